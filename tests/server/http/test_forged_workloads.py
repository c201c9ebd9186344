"""Workloads that anybody may have written: places outside of a matrix are refused before they become memory."""

import numpy as np
import pytest

from tacit import storage
from tacit.workloads.queries import matrix


@pytest.mark.parametrize(
    ("indices", "indptr", "shape"),
    [
        ([-1], [0, 1], (1, 8)),
        ([8], [0, 1], (1, 8)),
        ([2**40], [0, 1], (1, 8)),
        ([0.0], [0, 1], (1, 8)),
        ([0], [0, 2], (1, 8)),
        ([0], [1, 1], (1, 8)),
        ([0], [0, 2, 1], (2, 8)),
        ([0], [0, 1], (True, 8)),
        ([0], [0, 1], (1, 8, 1)),
    ],
)
def test_places_outside_of_a_matrix_are_refused(indices, indptr, shape):
    with pytest.raises(ValueError, match=r"no sparse matrix|do not fit|outside"):
        matrix._sparse(np.ones(1), np.array(indices), np.array(indptr), shape)


def test_a_matrix_is_read_as_it_was_written():
    rows = matrix._sparse(np.array([0.5, 1.0]), np.array([0, 7]), np.array([0, 1, 2]), (2, 8))
    assert (storage.read(storage.write(rows)) != rows).nnz == 0
