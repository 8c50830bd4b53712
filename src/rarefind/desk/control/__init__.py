"""What people have decided: rules, lists, blocks, models and orders, each change with its author.

Everything is in the desk's own database. A change is one transaction: the change itself, its row of
the audit log, and a raised revision, by which the decision process sees that something is new.
"""

from rarefind.desk.control._alert_level import recent_entries
from rarefind.desk.control._audit import Audit, AuditRow, AuditVerification, revision
from rarefind.desk.control._blocks import Block, Blocks, BlockState
from rarefind.desk.control._change_requests import (
    CHANGE_KINDS,
    ChangeKind,
    ChangeRequest,
    ChangeRequests,
    RequestState,
)
from rarefind.desk.control._control import Control
from rarefind.desk.control._desk_model import TableDeskModel, digest_of
from rarefind.desk.control._errors import ControlConflict, ControlError, NotThere
from rarefind.desk.control._in_force import InForce, load_in_force
from rarefind.desk.control._limits import LIMITS, THE_DESK
from rarefind.desk.control._lists import Lists, NamedList
from rarefind.desk.control._models import ModelRow, Models, ModelState, model_path
from rarefind.desk.control._orders import Order, Orders, OrderState
from rarefind.desk.control._rule_diff import DiffPart, RuleChange, changes_of, text_diff
from rarefind.desk.control._rule_rows import ROLES, DeskRule, RuleRole
from rarefind.desk.control._rules import Rules, rule_columns
from rarefind.desk.control._settings import SettingChanges, SettingRow

__all__ = [
    "CHANGE_KINDS",
    "LIMITS",
    "ROLES",
    "THE_DESK",
    "Audit",
    "AuditRow",
    "AuditVerification",
    "Block",
    "BlockState",
    "Blocks",
    "ChangeKind",
    "ChangeRequest",
    "ChangeRequests",
    "Control",
    "ControlConflict",
    "ControlError",
    "DeskRule",
    "DiffPart",
    "InForce",
    "Lists",
    "ModelRow",
    "ModelState",
    "Models",
    "NamedList",
    "NotThere",
    "Order",
    "OrderState",
    "Orders",
    "RequestState",
    "RuleChange",
    "RuleRole",
    "Rules",
    "SettingChanges",
    "SettingRow",
    "TableDeskModel",
    "changes_of",
    "digest_of",
    "load_in_force",
    "model_path",
    "recent_entries",
    "revision",
    "rule_columns",
    "text_diff",
]
