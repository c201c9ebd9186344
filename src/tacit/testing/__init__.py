"""Public suites: run them on your own mechanisms.

`mechanisms.conform` checks one example of a mechanism, `wrong` is a gallery that it must refute, `sources` and
`certify` drive samplers without randomness.
"""
