"""The list of all methods.  A new method is a file, and a line here; the conformance suite then finds it."""

from __future__ import annotations

from .method import Method
from .methods.direct.histogram import HistogramNoise
from .methods.direct.local_reports import Local
from .methods.direct.matrix_mechanism import Optimised
from .methods.direct.per_query import PerQuery
from .methods.marginals.adaptive import Adaptive
from .methods.marginals.chow_liu import ChowLiu
from .methods.marginals.residual import Residual
from .methods.trees.hierarchy import Hierarchy
from .methods.trees.isotonic import Isotonic
from .methods.trees.partition import Partition
from .methods.trees.pruned import Pruned
from .methods.weights.mwem import MWEM
from .methods.weights.pmw_offline import OfflinePMW
from .methods.weights.small_db import SmallDB

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
