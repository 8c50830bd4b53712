"""
A stream of payments whose labels come a week late
==================================================

Payments are scored as they come and learned when their labels come, seven days later. In the middle
of the stream the fraudsters change their ways: large amounts become small ones. The list becomes
worse, an alarm says so, and after a few weeks the model has learned the new ways without being
fitted again.
"""

import matplotlib.pyplot as plt
import numpy as np

from rarefind.metrics import average_precision
from rarefind.streams import ONLBClassifier

DAYS, A_DAY, DELAY, CHANGE = 90, 600, 7, 45
rng = np.random.default_rng(0)


def payments(day):
    """Amount, hour and place of a day's payments, and which of them are fraud."""
    fraud = rng.random(A_DAY) < 0.02
    amount = rng.lognormal(3, 1, A_DAY)
    amount[fraud] = rng.lognormal(5 if day < CHANGE else 1, 0.5, fraud.sum())
    hour = np.where(fraud & (rng.random(A_DAY) < 0.5), 3, rng.uniform(0, 24, A_DAY))
    return np.column_stack([amount, hour, rng.uniform(0, 1, A_DAY)]), fraud


# %%
# Each day brings new rows, and the labels of those that came a week ago.

model = ONLBClassifier(random_state=0, half_life=5000, on_drift="relearn")
labels, worth, alarms = {}, [], []
for day in range(DAYS):
    X, fraud = payments(day)
    ids = [f"{day}-{i}" for i in range(A_DAY)]
    scores = model.observe(ids, X, classes=[False, True])
    labels[day] = ids, fraud
    worth.append(average_precision(fraud, scores))
    if day >= DELAY:
        before = len(model.alarms_)
        model.learn_delayed(*labels.pop(day - DELAY))
        alarms += [day] * (len(model.alarms_) > before)

print(model.progress_)
print(f"alarms on day {alarms}; {model.n_waiting_} payments wait for their labels")

# %%

figure, ax = plt.subplots(figsize=(8, 4))
ax.plot(worth, lw=1.5, label="average precision of the day's list")
ax.axvline(CHANGE, color="tab:red", ls="--", label="fraud changes")
for number, day in enumerate(alarms):
    ax.axvline(day, color="tab:orange", label="alarm" if not number else None)
ax.set(xlabel="day", ylim=(0, 1))
ax.legend()
plt.show()
