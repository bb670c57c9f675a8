"""Does the metric agree with people: judgments as scores, correlations, differences, fitted metrics.

result = wellput.score(evalset, "bleu,chrf,ssa", keep_rows=True)
wellput.agree.agree(result.tables, judgments, wellput.agree.AgreementOptions(level="system"))
"""

from wellput.agree.analysis import AgreementOptions, agree
from wellput.agree.correlate import Uncertainty
from wellput.agree.result import AgreementResult

__all__ = ["AgreementOptions", "AgreementResult", "Uncertainty", "agree"]
