"""The curator: what stands between a question and the data."""

from .bounds import Bounds
from .continual import ContinualCounts, RunningTotals
from .curator import Curator
from .questions import QuestionLike, parse_question
from .stream import Stream

__all__ = ["Bounds", "ContinualCounts", "Curator", "QuestionLike", "RunningTotals", "Stream", "parse_question"]
