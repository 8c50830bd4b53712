"""After a change only what has changed is made again, in the process that decides."""


def test_only_what_has_changed_is_made_again(desk):
    control = desk.control
    control.lists.save("risky", ["XX"], "ann")
    control.lists.save("other", ["YY"], "ann")
    control.rules.save("large", "amount > 9", "ann", role="blocking")
    control.rules.save("abroad", "country in list('risky')", "ann", role="scoring")
    first = control.in_force()
    control.blocks.ask("c1", "ann")
    control.lists.add("other", ["ZZ"], "ann")
    second = control.changed(first)
    assert second.rules is first.rules
    control.lists.add("risky", ["ZZ"], "ann")
    third = control.changed(second)
    assert third.rules.digest != second.rules.digest
    assert third.rules.blocking[0] is first.rules.blocking[0]
    assert third.rules.scoring[0].lists == {"risky": ("XX", "ZZ")}
    control.rules.set_role("large", "off", "ann")
    control.rules.save("abroad", "country in list('other')", "ann")
    fourth = control.changed(third)
    assert fourth.rules.blocking == ()
    assert fourth.rules.scoring[0].lists == {"other": ("YY", "ZZ")}
    control.rules.save("abroad", "country in list('risky')", "ann")
    assert control.changed(fourth).rules.digest == control.in_force().rules.digest
