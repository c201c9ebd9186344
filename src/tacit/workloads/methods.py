"""Every method.  Adding one is a file and a line here."""

from __future__ import annotations

from .adaptive import Adaptive
from .chow_liu import ChowLiu
from .hierarchy import Hierarchy
from .histogram import HistogramNoise
from .isotonic import Isotonic
from .local import Local
from .method import Method
from .mwem import MWEM
from .optimised import Optimised
from .partition import Partition
from .per_query import PerQuery
from .pmw_offline import OfflinePMW
from .pruned import Pruned
from .residual import Residual
from .small_db import SmallDB

METHODS: tuple[Method, ...] = (
    PerQuery(),
    HistogramNoise(),
    Local(),
    Hierarchy(),
    Isotonic(),
    Partition(),
    Pruned(),
    Optimised(),
    SmallDB(),
    MWEM(),
    OfflinePMW(),
    Residual(),
    ChowLiu(),
    Adaptive(),
)
