"""The curators of a process: one for each data set, opened when it is first asked about."""

from __future__ import annotations

import threading

from ...core.errors import BadParameter, TacitError
from ...curator import Curator
from .. import log
from ..config import Settings
from ..registration import open_curator
from ..store import DataSet
from .texts import public_words


class DataSetUnavailable(TacitError):
    """A data set cannot be opened; why is the operator's business, whom the log tells."""

    def __init__(self, name: str) -> None:
        super().__init__(f"The data set {name!r} cannot be opened. The log of the service says why.")


class Curators:
    """Curators by the names of their data sets.

    With a time grid an answer has one moment at which it leaves, which other processes do not know of; so a data set
    that has one is served by a single process.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings, self._lock = settings, threading.Lock()
        self._open: dict[str, tuple[DataSet, Curator]] = {}
        self._opening: dict[str, threading.Lock] = {}
        self._words: dict[DataSet, frozenset[str]] = {}

    def of(self, dataset: DataSet) -> Curator:
        """The curator of a data set; a data set that was changed since gets a new one."""
        known = self._open.get(dataset.name)
        if known is not None and known[0] == dataset:
            return known[1]
        with self._lock:
            opening = self._opening.setdefault(dataset.name, threading.Lock())
        with opening:
            known = self._open.get(dataset.name)
            if known is not None and known[0] == dataset:
                return known[1]
            try:
                curator = self._opened(dataset)
            except TacitError as error:
                log.event("data set unavailable", dataset=dataset.name, reason=str(error))
                raise DataSetUnavailable(dataset.name) from None
            self._open[dataset.name] = dataset, curator
        if known is not None:
            known[1].close()
        return curator

    def _opened(self, dataset: DataSet) -> Curator:
        if dataset.time_grid is not None and self._settings.service.workers > 1:
            says = "A data set with a time grid is served by one process. Start the service with one worker."
            raise BadParameter("workers", "several", "1 for a data set with a time grid", says=says)
        return open_curator(dataset, self._settings)

    def public_words(self, dataset: DataSet) -> frozenset[str]:
        """The words of the public names of a data set, which an error about it may use."""
        if (words := self._words.get(dataset)) is None:
            try:
                words = public_words({dataset.name, *_names(self.of(dataset))})
            except TacitError:  # of a data set that cannot be opened, which whoever asks about it is told
                return public_words({dataset.name})
            self._words = {dataset: words, **dict(list(self._words.items())[:999])}
        return words

    def forget(self, name: str) -> None:
        """Close the curator of a data set that was removed."""
        known = self._open.pop(name, None)
        if known is not None:
            known[1].close()

    def close(self) -> None:
        """Close all of them."""
        for name in list(self._open):
            self.forget(name)


def _names(curator: Curator) -> set[str]:
    """The names of tables and columns, and the labels of categories."""
    names = {*curator.public, *(column for table in curator.public.values() for column in table.columns)}
    for table in curator.tables.values():
        names |= {table.schema.name, *table.schema.names}
        names |= {label for _, column in table.schema.columns for label in column.domain.labels}
    return names
