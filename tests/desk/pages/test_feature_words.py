"""Every feature of a desk has words in every language, and own labels come first."""

import pytest

from rarefind.desk import Schema
from rarefind.desk.clock import ManualClock
from rarefind.desk.explained import Because
from rarefind.desk.pages.feature_words import FeatureWords
from rarefind.desk.pages.formats import Formats
from rarefind.desk.pages.texts import LOCALES, texts_in

DECLARED = """
name = "cards"
[transaction]
id = "id"
time = "time"
amount = "amount"
[transaction.columns]
country = "text"
ecommerce = "boolean"
age = "number"
[entities.card]
column = "card"
distinct = ["country"]
[entities.terminal]
column = "terminal"
windows = ["90min", "7D"]
risk = true
[alerts]
entity = "card"
"""
SCHEMA = Schema.from_text(DECLARED)


def words(schema=SCHEMA, language="en"):
    t = texts_in(language)
    return FeatureWords(schema, t, Formats(t.locale, schema, ManualClock(0)))


@pytest.mark.parametrize(
    ("feature", "value", "english"),
    [
        ("amount_to_card_mean", 4.39999, "4.4 × the card's usual amount"),
        ("amount_to_card_mean", 1_234.5, "1,234 × the card's usual amount"),
        ("amount_to_card_mean", None, "the first payment of the card"),
        ("card_count_1h", 3.0, "3 payments of the card in the last hour"),
        ("card_count_30D", 1.0, "the card's only payment in the last 30 days"),
        ("terminal_risk_7D", 0.12, "a terminal where 12% were fraud in the last 7 days"),
        ("terminal_risk_7D", 0.004, "a terminal where 0.4% were fraud in the last 7 days"),
        ("terminal_fraud_count_90min", 1.0, "1 known fraud of the terminal in the last 90 minutes"),
        ("card_since_last", 240.0, "4 minutes after the card's last payment"),
        ("card_mean_1D", 34.5, "34.50 on average for the card in the last day"),
        ("card_mean_last_5", 10.0, "10.00 on average over the card's last 5 payments"),
        ("card_distinct_country_1D", 3.0,
         "3 different values of country for the card in the last day"),
        ("amount", 412.0, "an amount of 412.00"),
        ("hour", 23.0, "between 23:00 and 00:00"),
        ("night", 1.0, "at night"),
        ("weekend", 0.0, "on a weekday"),
        ("country", "XX", "country: XX"),
        ("country", None, "country is missing"),
        ("ecommerce", True, "ecommerce: yes"),
        ("age", 41.0, "age: 41"),
    ],
)  # fmt: skip
def test_features_are_told_in_words(feature, value, english):
    assert words().phrase(feature, value) == english


@pytest.mark.parametrize("language", LOCALES)
@pytest.mark.parametrize("value", [0.0, 1.0, 2.0, None])
def test_every_feature_has_words_in_every_language(language, value):
    found = words(language=language)
    for name in (*SCHEMA.features.names, *SCHEMA.columns):
        told = found.phrase(name, value)
        assert told
        assert "{" not in told
        assert "_" not in told or value is None, name


def test_own_labels_come_first():
    labels = '[feature_labels]\ncountry = "shop in"\ncard = "customer"\ncard_mean_1D = "mean"\n'
    found = words(Schema.from_text(DECLARED + labels))
    assert found.phrase("country", "XX") == "shop in: XX"
    assert found.phrase("amount_to_card_mean", 2.0) == "2 × the customer's usual amount"
    assert found.phrase("card_mean_1D", 2.0) == "mean: 2"


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ('colour = "x"', "'colour', which is not a column, a feature or an entity"),
        ('country = " "', "feature_labels.country is empty"),
    ],
)
def test_a_label_of_nothing_is_refused(line, told):
    with pytest.raises(ValueError, match=told):
        Schema.from_text(f"{DECLARED}[feature_labels]\n{line}\n")


def test_labels_survive_being_written():
    labels = Schema.from_text(f'{DECLARED}[feature_labels]\ncard = "customer"\n')
    assert Schema.from_text(labels.to_text()) == labels
    assert labels.added_since(SCHEMA) == ()


def test_a_sentence_has_what_speaks_for_an_alert():
    parts = [
        Because("card_count_1h", "…", 0.5, 3.0),
        Because("country", "…", 0.3, "FR", lowers=True),
        Because("a and b", "a > 1 and b < 2", 0.2),
    ]
    assert words().sentence(parts) == (
        "3 payments of the card in the last hour and a > 1 and b < 2"
    )
    assert words().sentence(parts[1:2]) == ""
    assert [push.lowers for push in words().pushes(parts)] == [False, True, False]
