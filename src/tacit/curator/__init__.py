"""The curator: what stands between a question and the data."""

from .bounds import Bounds
from .curator import Curator
from .questions import QuestionLike, parse_question
from .stream import Stream

__all__ = ["Bounds", "Curator", "QuestionLike", "Stream", "parse_question"]
