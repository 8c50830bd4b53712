"""Long work is done a small share of the time."""

from rarefind.desk.worker import _sparingly
from rarefind.desk.worker._sparingly import Sparingly


def test_a_piece_is_followed_by_a_pause_four_times_as_long(monkeypatch):
    now = 100.0
    done = []

    def step():
        nonlocal now
        done.append(now)
        now += 0.5
        return len(done) < 3

    monkeypatch.setattr(_sparingly.time, "monotonic", lambda: now)
    job = Sparingly(step, wait=30.0)
    for _ in range(100):
        job.run()
        now += 0.25
    # Half a second of work and two of pause; and half a minute when nothing is left.
    assert done[:3] == [100.0, 102.5, 105.0]
    assert len(done) == 3
    now += 30
    job.run()
    assert len(done) == 4
