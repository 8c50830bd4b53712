from desk_described import longer, try_description
from desk_in_memory import payment
from desk_served import served

from rarefind.desk.api.openapi import describe_decisions


def test_the_decision_process_answers_as_it_is_described(desk):
    with served(desk.app) as url:
        assert try_description(url, desk.token, examples=longer(15)) > 15
    assert desk.decider.stored


def test_examples_of_the_description_are_taken(desk):
    described = describe_decisions(desk.door.intake.schema)
    body = described["paths"]["/transactions"]["post"]["requestBody"]
    for example in body["content"]["application/json"]["examples"].values():
        assert desk.post(example["value"]).status_code == 200
    assert payment().keys() <= set(describe_transaction_columns(described))


def describe_transaction_columns(described):
    return described["components"]["schemas"]["Transaction"]["properties"]
