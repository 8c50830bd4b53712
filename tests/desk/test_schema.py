import pytest

from rarefind.desk import Schema

TEXT = """
name = "cards"
[transaction]
id = "id"
time = "time"
amount = "amount"
outcome = "checked"
[transaction.columns]
country = "text"
ecommerce = "boolean"
[entities.card]
column = "card"
distinct = ["terminal", "country"]
[entities.terminal]
column = "terminal"
statistics = ["count", "mean"]
risk = true
[alerts]
entity = "card"
"""


def test_a_declaration_reads_as_what_it_writes():
    schema = Schema.from_text(TEXT)
    assert Schema.from_text(schema.to_text()) == schema
    assert schema.columns == {
        "id": "text",
        "time": "time",
        "amount": "number",
        "card": "text",
        "terminal": "text",
        "checked": "text",
        "country": "text",
        "ecommerce": "boolean",
    }


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('name = "cards"', "", "missing required field `name`"),
        ('country = "text"', 'country = "txt"', "Invalid enum value 'txt'"),
        ('entity = "card"', 'entity = "car"', "alerts.entity is 'car'; the entities are card"),
        ('[alerts]\nentity = "card"', '[alerts]\nentity = "card"\nbudgt = 2', "unknown field"),
        ('ecommerce = "boolean"', 'card = "text"', "declares column 'card' twice"),
        ('column = "card"', 'column = "card"\nwindows = ["1 fortnight"]', "not a length of time"),
        ('distinct = ["terminal", "country"]', 'distinct = ["ecommerce"]', "not a text column"),
        ('name = "cards"', 'name = "cards"\nformat = 9', "reads format 1"),
        ('amount = "amount"', 'amount = "amount"\nminor_units = 9', "from 0 to 6"),
        ('amount = "amount"', 'amount = "amount"\ntime_zone = "Mars"', "not a time zone"),
        ("[alerts]", "[retention]\ndays = 66\n[alerts]", "'terminal' look back 67 days"),
        ("[alerts]", '[limits]\nlate = "-1D"\n[alerts]', "must not be negative"),
        ('country = "text"', 'country = "text"\nnight = "text"', "'night' has the name of a feat"),
        ("risk = true", "risk = true\nlast = -1", "last must not be negative"),
        ("risk = true", 'risk = true\nwindows = ["1D", "1D"]', "windows must differ"),
        ('statistics = ["count", "mean"]', 'statistics = ["mean", "mean"]', "repeat one of"),
    ],
)
def test_a_mistake_is_told_in_a_sentence(old, new, message):
    assert old in TEXT
    with pytest.raises(ValueError, match=message):
        Schema.from_text(TEXT.replace(old, new, 1))


def test_columns_can_be_added():
    schema = Schema.from_text(TEXT)
    more = Schema.from_text(TEXT.replace('country = "text"', 'country = "text"\nlimit = "number"'))
    assert more.added_since(schema) == ("limit",)
    with pytest.raises(ValueError, match="Column 'limit' is gone"):
        schema.added_since(more)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('country = "text"', 'country = "number"', "was text and is number"),
        ('amount = "amount"', 'amount = "amount"\nminor_units = 3', "was 2 and is 3"),
        ("risk = true", "risk = false", "entity 'terminal' has changed"),
    ],
)
def test_other_changes_are_refused(old, new, message):
    text = TEXT.replace('distinct = ["terminal", "country"]', 'distinct = ["terminal"]')
    with pytest.raises(ValueError, match=message):
        Schema.from_text(text.replace(old, new, 1)).added_since(Schema.from_text(text))


def test_the_features_are_those_of_the_declaration():
    features = Schema.from_text(TEXT).features
    assert features.names[:3] == ("card_count_1h", "card_mean_1h", "card_sum_1h")
    assert features.names[-4:] == ("amount", "hour", "weekend", "night")
    assert features.distinct == ("terminal", "country")
    for name in ("card_mean_30D", "card_distinct_country_7D", "amount_to_card_mean"):
        assert name in features.names
    assert "terminal_risk_30D" in features.names
    assert "card_risk_30D" not in features.names
    assert features.memory_length == 173 * 86_400 * 10**9, "retention less what may come late"
