"""Recordings annotated with ELAN and Praat, OpenCCG testbeds, and BML."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from wellput.core.errors import InputError
from wellput.core.evalset import EvalSet, Item
from wellput.displays.annotations import Interval, items_of_tiers, read_tiers
from wellput.displays.conversion import BML_ELEMENTS, BML_NAMESPACE, bml_of
from wellput.displays.openccg import MAX_DEPTH, read_testbed
from wellput.displays.schedules import MOTIONS, nodes_of, words_of
from wellput.displays.selection import select_displays
from wellput.io.evalset_writer import write_evalset
from wellput.io.evalsets import read_evalset

# "The fern likes shade", 0 to 2 s; a nod on "fern", brows over "likes shade", a squint throughout.
EAF = """<?xml version="1.0" encoding="UTF-8"?>
<ANNOTATION_DOCUMENT>
  <TIME_ORDER>
    <TIME_SLOT TIME_SLOT_ID="a" TIME_VALUE="0"/><TIME_SLOT TIME_SLOT_ID="b" TIME_VALUE="300"/>
    <TIME_SLOT TIME_SLOT_ID="c" TIME_VALUE="900"/><TIME_SLOT TIME_SLOT_ID="d" TIME_VALUE="1400"/>
    <TIME_SLOT TIME_SLOT_ID="e" TIME_VALUE="2000"/>
  </TIME_ORDER>
  <TIER TIER_ID="words">
    {words}
  </TIER>
  <TIER TIER_ID="head">
    <ANNOTATION><REF_ANNOTATION ANNOTATION_ID="m1" ANNOTATION_REF="w2">
      <ANNOTATION_VALUE>nd=d</ANNOTATION_VALUE></REF_ANNOTATION></ANNOTATION>
  </TIER>
  <TIER TIER_ID="bw">
    <ANNOTATION><ALIGNABLE_ANNOTATION ANNOTATION_ID="m2" TIME_SLOT_REF1="c" TIME_SLOT_REF2="e">
      <ANNOTATION_VALUE>u</ANNOTATION_VALUE></ALIGNABLE_ANNOTATION></ANNOTATION>
  </TIER>
  <TIER TIER_ID="sq">
    <ANNOTATION><ALIGNABLE_ANNOTATION ANNOTATION_ID="m3" TIME_SLOT_REF1="a" TIME_SLOT_REF2="e">
      <ANNOTATION_VALUE>yes</ANNOTATION_VALUE></ALIGNABLE_ANNOTATION></ANNOTATION>
  </TIER>
</ANNOTATION_DOCUMENT>
"""
WORDS = [("The", "a", "b"), ("fern", "b", "c"), ("likes", "c", "d"), ("shade", "d", "e")]
SHOWN = {"w2": ["nd=d"], "w3..w4": ["bw=u"], "s": ["sq"]}

TEXTGRID = '''File type = "ooTextFile"
Object class = "TextGrid"

xmin = 0
xmax = 2
tiers? <exists>
size = 2
item []:
    item [1]:
        class = "IntervalTier"
        name = "words"
        xmin = 0
        xmax = 2
        intervals: size = 3
        intervals [1]:
            xmin = 0
            xmax = 0.5
            text = ""
        intervals [2]:
            xmin = 0.5
            xmax = 1
            text = "say ""fern"""
        intervals [3]:
            xmin = 1
            xmax = 2
            text = "now"
    item [2]:
        class = "TextTier"
        name = "head"
        xmin = 0
        xmax = 2
        points: size = 1
        points [1]:
            number = 1.2
            mark = "nd=u"
'''


def eaf(tmp_path: Path) -> Path:
    words = "\n".join(
        f'<ANNOTATION><ALIGNABLE_ANNOTATION ANNOTATION_ID="w{n}" TIME_SLOT_REF1="{a}" '
        f'TIME_SLOT_REF2="{b}"><ANNOTATION_VALUE>{word}</ANNOTATION_VALUE>'
        "</ALIGNABLE_ANNOTATION></ANNOTATION>"
        for n, (word, a, b) in enumerate(WORDS, start=1)
    )
    file = tmp_path / "talk.eaf"
    file.write_text(EAF.format(words=words), encoding="utf-8")
    return file


def test_elan(tmp_path: Path) -> None:
    tiers = read_tiers(eaf(tmp_path))
    assert tiers["words"][1] == Interval(0.3, 0.9, "fern")
    (item,) = items_of_tiers(tiers, "talk")
    assert words_of(item.derivation or {}) == ["The", "fern", "likes", "shade"]
    assert item.outputs == {"original": SHOWN}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_textgrid_long_and_short(tmp_path: Path, encoding: str) -> None:
    long, short = tmp_path / "long.TextGrid", tmp_path / "short.TextGrid"
    long.write_text(TEXTGRID, encoding=encoding)
    bare = [line.partition("=")[2].strip() for line in TEXTGRID.splitlines() if "=" in line]
    short.write_text("\n".join([*bare[:4], "<exists>", *bare[4:]]), encoding=encoding)
    tiers = read_tiers(long)
    assert tiers == read_tiers(short)
    assert tiers["words"] == [Interval(0.5, 1, 'say "fern"'), Interval(1, 2, "now")]
    assert tiers["head"] == [Interval(1.2, 1.2, "nd=u")]


def with_second_tier(start: str, end: str) -> str:
    """A TextGrid with two tiers named nd: one interval from 0.5 to 1 s, one from `start` to `end`."""
    tier = """    item [{number}]:
        class = "IntervalTier"
        name = "nd"
        xmin = 0
        xmax = 2
        intervals: size = 2
        intervals [1]:
            xmin = 0
            xmax = {start}
            text = ""
        intervals [2]:
            xmin = {start}
            xmax = {end}
            text = "{text}"
"""
    first = tier.format(number=3, start="0.5", end="1", text="d")
    second = tier.format(number=4, start=start, end=end, text="u")
    return TEXTGRID.replace("size = 2\nitem []", "size = 4\nitem []") + first + second


def test_tiers_of_one_name_are_read_together(tmp_path: Path) -> None:
    file = tmp_path / "two.TextGrid"
    file.write_text(with_second_tier("1", "2"), encoding="utf-8")
    assert read_tiers(file)["nd"] == [Interval(0.5, 1, "d"), Interval(1, 2, "u")]
    elan = eaf(tmp_path)
    elan.write_text(elan.read_text().replace('TIER_ID="head"', 'TIER_ID="bw"'), encoding="utf-8")
    assert read_tiers(elan)["bw"] == [Interval(0.3, 0.9, "nd=d"), Interval(0.9, 2, "u")]


def test_tiers_of_one_name_that_overlap_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "two.TextGrid"
    file.write_text(with_second_tier("0.8", "2"), encoding="utf-8")
    with pytest.raises(InputError) as error:
        read_tiers(file)
    assert "two.TextGrid has several tiers of one name" in str(error.value)
    assert "tier nd, 0.8 to 2 s: 'u', and 'd' from 0.5 to 1 s" in str(error.value)


def test_a_textgrid_in_another_encoding_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "old.TextGrid"
    text = TEXTGRID.replace('"now"', '"Hällo"')
    file.write_text(text, encoding="latin-1")
    with pytest.raises(InputError, match=r"(?s)old\.TextGrid is not UTF-8 text:.*0xe4.*iconv"):
        read_tiers(file)
    file.write_bytes(text.encode("utf-16") + b"\x00")
    with pytest.raises(InputError, match=r"old\.TextGrid is not UTF-16 text"):
        read_tiers(file)


def test_sentences_and_what_lies_outside() -> None:
    words = [Interval(n, n + 1, f"word{n}") for n in range(4)]
    tiers = {
        "words": words,
        "sentences": [Interval(0, 2, "one"), Interval(2, 4, "two")],
        "head": [Interval(1.1, 1.9, "nd=d + bw=u"), Interval(2.8, 3.1, "sq")],
    }
    items = items_of_tiers(tiers, "r")
    assert [item.id for item in items] == ["r-1", "r-2"]
    assert [item.outputs["original"] for item in items] == [
        {"w2": ["nd=d", "bw=u"]},
        {"w1": ["sq"]},
    ]
    tiers["head"] += [Interval(7, 8, "nd=d"), Interval(0, 1, "smile")]
    with pytest.raises(InputError) as error:
        items_of_tiers(tiers, "r")
    assert "nd=d from 7 to 8 s: no word is spoken at that time" in str(error.value)
    assert "tier head, 0 s: unknown motion 'smile'" in str(error.value)
    with pytest.raises(InputError, match=r"no tier 'word'. Did you mean words"):
        items_of_tiers(tiers, "r", words="word")


def test_openccg_testbed(tmp_path: Path) -> None:
    file = tmp_path / "testbed.xml"
    file.write_text(
        """<regression>
  <item numOfParses="1" string="here_L+H* LH% we keep a fern in the shady_H* corner LL% .">
    <lf><node id="k" pred="keep" info="rh" mood="dcl">
      <rel name="Owner"><node id="p" pred="pro1" num="pl"/></rel>
      <rel name="Poss"><node id="f" pred="fern" det="a">
        <rel name="Loc"><node id="c" pred="corner" det="the">
          <rel name="HasProp"><node id="s" pred="shady" kon="+"/></rel>
        </node></rel></node></rel>
      <rel name="Place"><node id="h" pred="here" info="th">
        <rel name="Of"><node idref="f"/></rel></node></rel>
    </node></lf>
  </item>
  <item numOfParses="0" string="fern the we"/>
</regression>""",
        encoding="utf-8",
    )
    (item,) = read_testbed(file)
    nodes = {node.get("word", node["id"]): node for node in nodes_of(item.derivation or {})}
    assert item.references == ("here we keep a fern in the shady corner.",)
    assert words_of(item.derivation or {})[-1] == "corner."
    assert nodes["here"]["features"] == {
        "semantics": "here", "information": "theme", "prosody": "L+H*", "boundary": "LH%",
    }  # fmt: skip
    assert nodes["shady"]["label"] == "HasProp"
    assert nodes["shady"]["features"]["information"] == "rheme"
    # "a fern … corner" and "shady corner" stand together and are inner nodes.
    every = list(nodes_of(item.derivation or {}))
    inner = [(node["label"], words_of(node)) for node in every if "children" in node]
    assert ("Poss", ["fern", "in", "the", "shady", "corner."]) in inner
    assert ("Loc", ["shady", "corner."]) in inner


def test_an_openccg_dictionary_tells_properties_and_concessions_evaluations(tmp_path: Path) -> None:
    (tmp_path / "dict.xml").write_text(
        """<dictionary name="tiny"><entry class="style" pos="Adj" stem="classic"/>
  <entry class="manufacturer" pos="NNP" stem="Moss_and_Co"/>
  <entry class="decoration" pos="N" stem="motif"><word form="motifs"/></entry>
  <entry class="phys-obj" pos="N" stem="tile"/></dictionary>""",
        encoding="utf-8",
    )
    (tmp_path / "testbed.xml").write_text(
        """<regression><item numOfParses="1"
  string="although it 's classic_L+H* LH% , the tiles by Moss_and_Co have floral_H* motifs LL% .">
    <lf><node id="a" pred="although">
      <rel name="Arg1"><node id="b" pred="be"><rel name="Prop"><node id="c" pred="classic"/></rel>
      </node></rel>
      <rel name="Arg2"><node id="h" pred="have"><rel name="Owner"><node id="t" pred="tile">
        <rel name="Creator"><node id="m" pred="Moss_and_Co"/></rel></node></rel>
        <rel name="Poss"><node id="d" pred="motif">
        <rel name="HasProp"><node id="f" pred="floral"/></rel></node></rel></node></rel>
    </node></lf></item></regression>""",
        encoding="utf-8",
    )
    (item,) = read_testbed(tmp_path / "testbed.xml")
    every = list(nodes_of(item.derivation or {}))
    found = {
        " ".join(words_of(node)): (node["features"]["property"], node["features"]["evaluation"])
        for node in every
        if "property" in node.get("features", {})
    }
    # A property of several words is on their inner node only; a tile is not a property.
    assert found == {
        "classic,": ("style", "negative"),
        "Moss and Co": ("manufacturer", "positive"),
        "floral motifs.": ("motif", "positive"),
    }
    chosen = select_displays([item], ["rule"], rules="foster2008")
    assert chosen.displays == {"rule": 3}
    assert select_displays([item], ["rule"], rules="foster2008-comic").displays == {"rule": 2}


@pytest.mark.parametrize("depth", [MAX_DEPTH, MAX_DEPTH + 1, 2000])
def test_a_logical_form_nested_too_deeply_is_refused(tmp_path: Path, depth: int) -> None:
    opened = "".join(f'<node id="{i}" pred="w{i}"><rel name="R">' for i in range(depth - 1))
    nodes = f'{opened}<node id="last" pred="fern"/>{"</rel></node>" * (depth - 1)}'
    words = " ".join(f"w{i}" for i in range(depth - 1))
    file = tmp_path / "testbed.xml"
    file.write_text(
        f'<regression><item string="fern"/><item string="{words} fern"><lf>{nodes}</lf></item>'
        "</regression>",
        encoding="utf-8",
    )
    if depth > MAX_DEPTH:
        with pytest.raises(InputError, match=f"item 2: .* nested too deeply; at most {MAX_DEPTH}"):
            read_testbed(file)
        return
    item = read_testbed(file)[1]
    path = tmp_path / "items.jsonl"
    write_evalset(EvalSet([item]), path)
    assert len(list(nodes_of(next(iter(read_evalset(path))).derivation or {}))) == 2 * depth - 1


def test_bml_has_every_motion_at_its_words() -> None:
    assert BML_ELEMENTS.keys() == MOTIONS.keys()
    derivation = {"id": "s", "children": [{"id": f"w{i}", "word": f"x{i}"} for i in range(1, 4)]}
    schedule = {"w2": list(MOTIONS), "w1..w2": ["sq"]}
    block = bml_of(Item("7", {"A": schedule}, derivation=derivation), "A")
    parsed = ElementTree.fromstring(ElementTree.tostring(block))
    assert parsed.tag == f"{{{BML_NAMESPACE}}}bml"
    text = parsed.find(f"{{{BML_NAMESPACE}}}speech/{{{BML_NAMESPACE}}}text")
    assert text is not None and "".join(text.itertext()).split() == ["x1", "x2", "x3"]
    behaviors = [child for child in parsed if not child.tag.endswith("speech")]
    assert len(behaviors) == len(MOTIONS) + 1
    times = [(each.get("start"), each.get("end")) for each in behaviors]
    assert times == [("speech:w1", "speech:w2")] * len(MOTIONS) + [("speech:w0", "speech:w2")]


@pytest.mark.parametrize("name", ["bad.eaf", "bad.TextGrid"])
def test_other_files_are_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("what is this", encoding="utf-8")
    with pytest.raises(InputError, match=f"{name} is no"):
        read_tiers(tmp_path / name)
