"""How kernels are compiled."""

from rarefind._numba import kernel, reordering_kernel


def test_a_kernel_does_not_take_on_the_options_of_its_caller():
    @kernel
    def inner(x):
        total = 0.0
        for value in x:
            total += value
        return total

    @reordering_kernel
    def outer(x):
        return inner(x)

    # Numba hands on what a kernel leaves open to those that it compiles for it.
    assert inner.targetoptions["fastmath"] is False
    assert inner.targetoptions["error_model"] == "python"
    assert outer.targetoptions["fastmath"] == {"reassoc", "contract", "nsz"}
