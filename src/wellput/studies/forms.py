"""Forms as browsers post them, each checked to be one that this server made."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, TypeAlias
from urllib.parse import parse_qsl

from fastapi import Depends, HTTPException, Request

from wellput.studies.security import CSRF_FIELD, csrf_is_valid

Form: TypeAlias = Mapping[str, str]
MAXIMUM_FIELDS = 5000


async def read_form(request: Request) -> Form:
    """The fields of a posted form; the last one counts where a name comes twice."""
    try:
        text = (await request.body()).decode("ascii")
        return dict(parse_qsl(text, keep_blank_values=True, max_num_fields=MAXIMUM_FIELDS))
    except ValueError:
        raise HTTPException(400, "This form could not be read.") from None


PostedForm: TypeAlias = Annotated[Form, Depends(read_form)]


def check_csrf(request: Request, holder: str, form: Form) -> None:
    if not csrf_is_valid(request, holder, form.get(CSRF_FIELD, "")):
        raise HTTPException(
            403,
            "This form was not made for this browser. Please open your link again; the page needs "
            "cookies to keep other sites from answering in your name.",
        )
