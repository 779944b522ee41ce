"""The compiled engine: kernels over structured arrays, generic over games."""
