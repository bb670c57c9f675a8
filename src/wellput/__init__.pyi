from wellput.core.errors import InputError as InputError
from wellput.core.errors import OutputError as OutputError
from wellput.core.errors import WellputError as WellputError
from wellput.core.evalset import Batch as Batch
from wellput.core.evalset import EvalSet as EvalSet
from wellput.core.evalset import Item as Item
from wellput.core.metric import Metric as Metric
from wellput.core.run import Run as Run
from wellput.core.score import Score as Score
from wellput.core.table import Estimate as Estimate
from wellput.core.table import ScoreTable as ScoreTable
from wellput.core.tree import Tree as Tree
from wellput.core.tree import Word as Word
from wellput.engine.result import Comparison as Comparison
from wellput.engine.result import ScoreResult as ScoreResult
from wellput.engine.run_changes import run_changes as run_changes
from wellput.engine.runs import save_run as save_run
from wellput.engine.score import score as score
from wellput.io import open_evalset as open_evalset
from wellput.io import open_lines as open_lines
from wellput.io import read_evalset as read_evalset
from wellput.io import write_evalset as write_evalset
from wellput.io.run_files import read_runs as read_runs
from wellput.language.realize.realizer import Realizer as Realizer
from wellput.language.realize.systems import Realization as Realization
from wellput.metrics.registry import metric as metric

__version__: str
