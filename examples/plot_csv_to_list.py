"""
From a CSV file to a list of checks
===================================

Past payments are in a CSV file, with text, dates and missing values. :class:`rarefind.TableModel`
takes them as they are: it learns, ranks new payments, and says why each is on the list.
"""

# %%
# The file. A real one would be on disk already; this one is simulated, with the country of a
# payment as text, which is missing now and then.
import tempfile
from pathlib import Path

import numpy as np

from rarefind.data import simulate_transactions, transaction_features

payments = simulate_transactions(n_customers=300, n_terminals=600, days=70, random_state=2)
rng = np.random.default_rng(0)
table = transaction_features(payments, windows=["1D", "30D"])
table = table.join(payments[["transaction_id", "time", "customer"]])
table["country"] = rng.choice(["FR", "BE", "LU", None], len(table), p=[0.7, 0.2, 0.08, 0.02])
table["fraud"] = np.where(payments["fraud"] == 1, "yes", "no")
folder = tempfile.TemporaryDirectory()
path = Path(folder.name) / "payments.csv"
table[table["time"] < "2026-03-05"].to_csv(path, index=False)
today = table[table["time"] >= "2026-03-11"]

# %%
# Read it, say what the columns mean, and learn.
from rarefind import TableModel
from rarefind.boosting import SGBAPClassifier
from rarefind.data import read_table

known = read_table(path, target="fraud")
model = TableModel(
    SGBAPClassifier(n_estimators=100, random_state=0),
    target="fraud",
    time="time",
    entity="customer",
    amount="amount",
    id="transaction_id",
).fit(known)
folder.cleanup()
print(f"{len(known):,} payments, {(known['fraud'] == 'yes').sum()} of them fraud")

# %%
# The list: ten customers, each once, with the reason as a sentence.
to_check = model.rank(today, budget=10, one_per="customer")
print(to_check[["rank", "customer", "amount", "probability"]].to_string(index=False))
print(to_check["reason"].iloc[0])

# %%
# What more or fewer checks would find among these payments, by what is known of them by now.
from rarefind.plots import BudgetCurveDisplay

BudgetCurveDisplay.from_predictions(
    today["fraud"], model.priority(today), pos_label="yes", budget=30, name="SGBAP"
)

# %%
# And one reason as a picture.
from rarefind.plots import ReasonDisplay

ReasonDisplay.from_estimator(model, today.loc[to_check.index[:1]])
