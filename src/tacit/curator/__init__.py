"""The curator: what stands between a question and the data."""

from ..query.plan.offer import Paid, Terms
from .bounds import Bounds, BoundsTerms
from .continual import ContinualCounts, RunningTotals
from .curator import Curator
from .options import name_options
from .questions import QuestionLike, parse_question
from .stream import Stream, StreamTerms

name_options(Terms, Curator.offer, Curator.ask, Curator.bought, Curator.questions_left, Curator.rehearse)
name_options(Paid, Curator.plan, Curator.answer, Curator.online)
name_options(StreamTerms, Curator.above_threshold, Curator.numeric_sparse)
name_options(BoundsTerms, Curator.bounds)

__all__ = ["Bounds", "ContinualCounts", "Curator", "QuestionLike", "RunningTotals", "Stream", "parse_question"]
