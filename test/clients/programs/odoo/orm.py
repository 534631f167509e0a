"""Small fake of Odoo's ORM: records in memory, fields, domains, savepoints and constraints.

It has only what OCA's currency_rate_update and our module use. Behaviour that differs by version is in `base.py`.
"""

import contextlib
import copy
import sys
import types
from datetime import date, datetime, timedelta

from domains import follow, matches, sortable, to_day

CLOCK = {"now": datetime(2026, 3, 24, 12)}
TRANSLATIONS = {}
CLASSES = []


class UserError(Exception):
    pass


class ValidationError(UserError):
    pass


class AccessError(UserError):
    pass


def translate(text, *words, **named):
    """Translates into the language of the caller's `self`, as Odoo does by the frame."""
    caller = sys._getframe(1).f_locals.get("self")
    language = caller.env.context.get("lang") if caller is not None else None
    text = TRANSLATIONS.get(text, text) if (language or "").startswith("es") else text
    return text % (named or words) if named or words else text


class Field:
    kind = None

    def __init__(self, *words, **settings):
        self.settings = settings
        if self.kind in ("many2one", "many2many"):
            self.comodel = settings.get("comodel_name") or words[0]

    def __set_name__(self, owner, name):
        self.name = name

    def default(self, env):
        value = self.settings.get("default")
        return value(env[self.model]) if callable(value) else value

    def __get__(self, record, owner):
        if record is None:
            return self
        record._check_field(self)
        if not record._ids:
            return record.env[self.comodel] if self.kind in ("many2one", "many2many") else False
        record.ensure_one()
        compute = self.settings.get("compute")
        if compute and not self.settings.get("store"):
            return compute(record)
        value = record._row().get(self.name)
        if self.kind == "many2one":
            return record.env[self.comodel].browse(value or ())
        if self.kind == "many2many":
            return record.env[self.comodel].browse(value or ())
        return False if value is None and self.kind != "float" else value

    def __set__(self, record, value):
        record.write({self.name: value})


def field_type(kind_name):
    return type(kind_name.title(), (Field,), {"kind": kind_name})


def context_timestamp(record, timestamp):
    zone = record.env.context.get("tz") or record.env.user.tz or "UTC"
    return timestamp + timedelta(hours={"UTC": 0, "America/Costa_Rica": -6}[zone])


class Date(field_type("date")):
    from_string = staticmethod(to_day)
    to_date = staticmethod(to_day)
    today = staticmethod(lambda *_: CLOCK["now"].date())
    context_today = staticmethod(lambda record, *_: context_timestamp(record, CLOCK["now"]).date())


class Datetime(field_type("datetime")):
    now = staticmethod(lambda *_: CLOCK["now"])
    context_timestamp = staticmethod(context_timestamp)


class Model:
    env = None

    def __init_subclass__(cls, **_words):
        if not cls.__dict__.get("_is_built"):
            CLASSES.append(cls)

    # Records
    def browse(self, ids=()):
        record = object.__new__(type(self))
        record.env = self.env
        record._ids = (ids,) if isinstance(ids, int) else tuple(ids)
        return record

    ids = property(lambda self: list(self._ids))
    id = property(lambda self: self._ids[0] if self._ids else False)
    _context = property(lambda self: self.env.context)

    def _row(self):
        return self.env.tables[self._name][self.id]

    def __iter__(self):
        return iter([self.browse(number) for number in self._ids])

    def __len__(self):
        return len(self._ids)

    def __bool__(self):
        return bool(self._ids)

    def __eq__(self, other):
        return isinstance(other, Model) and (self._name, set(self._ids)) == (other._name, set(other._ids))

    def __hash__(self):
        return hash((self._name, self._ids))

    def __add__(self, other):
        return self.browse(self._ids + other._ids)

    def __sub__(self, other):
        return self.browse(number for number in self._ids if number not in other._ids)

    def __or__(self, other):
        return self.browse(dict.fromkeys(self._ids + other._ids))

    def __contains__(self, other):
        return other.id in self._ids

    def __getitem__(self, name):
        return self.browse(self._ids[name]) if isinstance(name, (int, slice)) else getattr(self, name)

    def ensure_one(self):
        assert len(self._ids) == 1, f"{self._name}: expected one record, not {len(self._ids)}"
        return self

    def exists(self):
        return self.browse(number for number in self._ids if number in self.env.tables[self._name])

    def filtered(self, test):
        test = test if callable(test) else (lambda record, path=test: follow(record, path))
        return self.browse(record.id for record in self if test(record))

    def mapped(self, path):
        if callable(path):
            return [path(record) for record in self]
        values = [follow(record, path) for record in self]
        field = self._fields.get(path)
        if not values and field and field.kind in ("many2one", "many2many"):
            return self.env[field.comodel].browse()
        if values and isinstance(values[0], Model):
            return values[0].browse(dict.fromkeys(number for value in values for number in value._ids))
        return values

    # Environments
    def _in(self, **changes):
        record = self.browse(self._ids)
        record.env = self.env.copy(**changes)
        return record

    def with_context(self, *words, **more):
        return self._in(context={**(words[0] if words else self.env.context), **more})

    def with_company(self, company):
        return self.with_context(company_id=getattr(company, "id", company))

    def with_user(self, user):
        return self._in(user_id=getattr(user, "id", user), su=False)

    def sudo(self, flag=True):
        return self._in(su=flag)

    # Access
    def _may(self, group):
        return self.env.su or not group or group in self.env.user.groups

    def _check_field(self, field):
        if not self._may(field.settings.get("groups")):
            raise AccessError(f"{self._name}.{field.name} is not for you")

    def _check_write(self):
        if not self._may(getattr(self, "_writers", None)):
            raise AccessError(f"{self._name} may not be changed by you")

    # Rows
    def search(self, domain=(), order=None, limit=None, offset=0):
        rows = self.env.tables[self._name]
        if not {"|", "&"} & {term for term in domain if isinstance(term, str)}:
            exact = [(name, value) for name, sign, value in domain if sign == "=" and isinstance(value, (int, date))]
            exact = [(name, value) for name, value in exact if name in self._fields and value]
            rows = [key for key, row in rows.items() if all(row.get(name) == value for name, value in exact)]
        records = [record for record in self.browse(rows) if matches(record, domain)]
        if "active" in self._fields and self.env.context.get("active_test", True):
            if not any(term[0] == "active" for term in domain):
                records = [record for record in records if record.active]
        for part in reversed((order or getattr(self, "_order", None) or "id").split(",")):
            name, _, direction = part.strip().partition(" ")
            records.sort(key=lambda record: sortable(getattr(record, name)), reverse=direction == "desc")
        return self.browse(record.id for record in records[offset:][:limit])

    def search_count(self, domain=(), limit=None):
        return len(self.search(domain, limit=limit))

    def create(self, values):
        self._check_write()
        records = self.browse()
        for one in values if isinstance(values, list) else [values]:
            unknown = set(one) - set(self._fields)
            if unknown:
                raise ValueError(f"Invalid field {sorted(unknown)} on model {self._name}")
            defaults = {name: field.default(self.env) for name, field in self._fields.items()}
            number = next(self.env.counter)
            row = {**defaults, **one}
            self.env.tables[self._name][number] = {
                name: self._stored(name, value) for name, value in row.items()
            }
            record = self.browse(number)
            record._after(set(one))
            records |= record
        return records

    def write(self, values):
        self._check_write()
        for record in self:
            for name, value in values.items():
                record._check_field(self._fields[name])
                record._row()[name] = self._stored(name, value)
            record._after(set(values))
        return True

    def _stored(self, name, value):
        field = self._fields[name]
        if isinstance(value, Model):
            return list(value._ids) if field.kind == "many2many" else value.id
        if field.kind == "many2many" and value and isinstance(value[0], (tuple, list)):
            return [number for command in value for number in ([command[1]] if command[0] == 4 else command[2])]
        return to_day(value) if field.kind == "date" and value else value

    def _after(self, names):
        for method in vars_of(type(self)):
            if names & set(getattr(method, "_constrains", ())):
                method(self)

    def unlink(self):
        self._check_write()
        for number in self._ids:
            for table, column, text in RESTRICTIONS.get(self._name, ()):
                if any(row.get(column) == number for row in self.env.tables[table].values()):
                    raise UserError(text)
            del self.env.tables[self._name][number]
        return True


RESTRICTIONS = {}
SAVEPOINTS = []  # tables as they were, the transaction first


def vars_of(model):
    """Methods by name, the most derived one of each."""
    found = {}
    for owner in reversed(model.__mro__):
        found.update({name: value for name, value in vars(owner).items() if callable(value)})
    return list(found.values())


class Environment:
    def __init__(self, registry, tables, counter, user_id=1, su=True, context=None):
        self.registry, self.tables, self.counter = registry, tables, counter
        self.uid, self.su, self.context = user_id, su, context or {}
        self.cr = types.SimpleNamespace(savepoint=self.savepoint, commit=self.commit)

    def copy(self, user_id=None, su=None, context=None):
        return Environment(
            self.registry,
            self.tables,
            self.counter,
            self.uid if user_id is None else user_id,
            self.su if su is None else su,
            self.context if context is None else context,
        )

    def __getitem__(self, name):
        record = object.__new__(self.registry[name])
        record.env, record._ids = self, ()
        return record

    def __contains__(self, name):
        return name in self.registry

    user = property(lambda self: self["res.users"].browse(self.uid))
    @property
    def company(self):
        chosen = self.context.get("company_id")
        return self["res.company"].browse(chosen) if chosen else self.user.company_ids[0]

    lang = property(lambda self: self.context.get("lang"))

    def ref(self, name, raise_if_not_found=True):
        row = self["ir.model.data"].search([("name", "=", name)], limit=1)
        if row and self[row.model].browse(row.res_id).exists():
            return self[row.model].browse(row.res_id)
        if raise_if_not_found:
            raise ValueError(f"External ID not found in the system: {name}")
        return None

    @contextlib.contextmanager
    def savepoint(self, *_words, **_named):
        SAVEPOINTS.append(self.copy_tables())
        try:
            yield
        except BaseException:
            for name, rows in self.tables.items():
                rows.clear()
                rows.update(SAVEPOINTS[-1][name])
            raise
        finally:
            SAVEPOINTS.pop()

    def commit(self):
        """Ends the transaction, which is the outermost savepoint."""
        assert len(SAVEPOINTS) == 1, "a commit would end the savepoints around it"
        SAVEPOINTS[0] = self.copy_tables()

    def copy_tables(self):
        return {name: {key: dict(row) for key, row in rows.items()} for name, rows in self.tables.items()}


def build_registry():
    """Builds one class a model: the base and its extensions, the last one first."""
    families, registry = {}, {}
    for cls in CLASSES:
        name = cls.__dict__.get("_name") or cls.__dict__.get("_inherit")
        if isinstance(name, str):
            families.setdefault(name, []).insert(0, cls)
    for name, classes in families.items():
        built = type(name, tuple(classes), {"_name": name, "_is_built": True})
        fields = {}
        for owner in reversed(built.__mro__):
            for key, field in vars(owner).items():
                if isinstance(field, Field):
                    fields[key] = merge(fields.get(key), field)
        for key, field in fields.items():
            field.model = name
            setattr(built, key, field)
        built._fields = fields
        registry[name] = built
    return registry


def merge(before, field):
    """Adds the choices of an extension to those of the field that it extends."""
    if before is None:
        return field
    merged = copy.copy(before)
    merged.settings = {**before.settings, **field.settings}
    if "selection_add" in field.settings:
        choices = before.settings.get("selection", []) + field.settings["selection_add"]
        merged.settings["selection"] = choices
    merged.selection = merged.settings.get("selection")
    return merged


def identity(method=None, *_words, **_named):
    return method if callable(method) else (lambda inner: inner)


def constrains(*names):
    def mark(method):
        method._constrains = names
        return method

    return mark


def install_modules(markup):
    """Makes `import odoo` find the fake."""

    def add(name, **members):
        module = types.ModuleType(name)
        vars(module).update(members)
        sys.modules[name] = module
        return module

    kinds = "Char Text Html Boolean Integer Float Selection Many2one Many2many".split()
    fields = add("odoo.fields", Date=Date, Datetime=Datetime, **{name: field_type(name.lower()) for name in kinds})
    models = add("odoo.models", Model=Model, TransientModel=Model)
    api = add("odoo.api", constrains=constrains, model=identity, depends=identity, model_create_multi=identity)
    errors = {"UserError": UserError, "ValidationError": ValidationError, "AccessError": AccessError}
    exceptions = add("odoo.exceptions", **errors)
    add("odoo", _=translate, fields=fields, models=models, api=api, exceptions=exceptions, __path__=[])
    add("markupsafe", Markup=markup)
