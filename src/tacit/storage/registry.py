"""Stored types: each has a name, a version and a list of fields of its own, declared where the type is defined.

    @stored("Laplace", ("sensitivity", "grid", "scale"), make=bare)
    @dataclass(frozen=True, init=False)
    class Laplace: ...

Nothing that is stored names a module, a class or an attribute by accident: all of them can be renamed.

    an attribute gets another name    fields={"scale": "new_name"}: the stored name stays
    a field is added                  with a default it is no field of what is stored, and a value that differs from
                                      the default cannot be written; to store it, add it to `fields` and `optional`
    a field is removed or changed     raise `version`, and register how the members of the older version become those
                                      of the new one: upgrades={1: function}
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import cached_property
from typing import Any, NoReturn, TypeVar

from .errors import Unreadable, Unwritable, WrittenLater

C = TypeVar("C", bound=type)
Members = dict[str, Any]
Upgrade = Callable[[Members], Members]
NAME, VERSION = "is", "v"  # the members that say which type was written, and in which version if not the first


class StoredType:
    """A stored type: how its values are taken apart, and put together again."""

    def __init__(
        self,
        type_: type,
        name: str,
        attributes: Mapping[str, str],
        *,
        version: int,
        optional: Mapping[str, Any],
        omit: Sequence[str],
        make: Callable[..., Any] | None,
        members: Callable[[Any], Sequence[Any]] | None,
        upgrades: Mapping[int, Upgrade],
        keep: bool,
    ) -> None:
        self.type, self.name, self.version, self.keep = type_, name, version, keep
        self.attributes, self.optional, self.upgrades = dict(attributes), dict(optional), dict(upgrades)
        self._omit, self._make, self._members = frozenset(omit), make, members
        self._check()

    @cached_property
    def undeclared(self) -> tuple[tuple[str, Any], ...]:
        """Fields of the dataclass that are not stored, each with the default that it must have when it is written."""
        if self._members is not None or not is_dataclass(self.type):
            return ()
        fixed = self._initialised  # there a field without `init` has the same value always
        known = self._omit.union(self.attributes.values())
        left = [f for f in fields(self.type) if f.name not in known and (f.init or not fixed)]
        return tuple((f.name, self._default(f)) for f in left)

    def _default(self, f: Field[Any]) -> Any:
        if f.default is not MISSING:
            return f.default
        if f.default_factory is MISSING:
            self._refuse(f"its field {f.name!r} has no default: add the field to `fields`, or to `omit`")
        return f.default_factory()

    @cached_property
    def _initialised(self) -> bool:
        """Whether the dataclass has the `__init__` that its fields make."""
        return bool(self.type.__dataclass_params__.init)  # type: ignore[attr-defined]

    @cached_property
    def text(self) -> tuple[tuple[tuple[str, str], ...], str] | None:
        """The canonical text before the value of each attribute, and after the last; None if the fields may vary."""
        if self._members is not None or self.optional or self.undeclared:
            return None
        head = {NAME: f'"{NAME}":"{self.name}"'} | (
            {VERSION: f'"{VERSION}":{self.version}'} if self.version > 1 else {}
        )
        parts, before = list[tuple[str, str]](), "{"
        for name in sorted([*head, *self.attributes]):
            if name in head:
                before += f"{head[name]},"
            else:
                parts.append((f'{before}"{name}":', self.attributes[name]))
                before = ","
        return tuple(parts), f"{before.removesuffix(',')}}}"

    def members(self, value: Any) -> Members:
        """The stored fields of a value, by their stored names, in the order in which they were declared."""
        if self._members is not None:
            members = dict(zip(self.attributes, self._members(value), strict=True))
        else:
            members = {name: getattr(value, attribute) for name, attribute in self.attributes.items()}
            for attribute, default in self.undeclared:
                if not _same(getattr(value, attribute), default):
                    raise Unwritable(
                        f"{self.name} has a field {attribute!r} that is not stored and differs from its default; add it"
                        f" to `fields` and `optional` of @stored({self.name!r})"
                    )
        for name, default in self.optional.items():
            if _same(members[name], default):
                del members[name]
        return members

    def upgraded(self, members: Members) -> Members:
        """The members, as they are written by this version of the type."""
        version = members.pop(VERSION, 1)
        if type(version) is not int or version < 1:
            raise Unreadable(f"{self.name} has no version {version!r}")
        if version > self.version:
            raise WrittenLater(f"{self.name!r} is of version {version}, and this one knows {self.version}")
        for older in range(version, self.version):
            members = self.upgrades[older](members)
        return members

    def made(self, members: Members) -> Any:
        """A value of these members, which were read already."""
        if members.keys() != self.attributes.keys():
            members = {**self.optional, **members}
            if members.keys() != self.attributes.keys():
                raise Unreadable(f"{self.name} has other fields: {', '.join(sorted(members)[:9]) or 'none'}")
        try:
            if self._make is bare:
                return self._bare(members)
            if self._make is not None:
                return self._make(**members)
            if self._same_names:
                return self.type(**members)
            return self.type(**{self._parameters[name]: value for name, value in members.items()})
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
            raise Unreadable(f"{self.name} cannot be made of these fields") from None

    def _bare(self, members: Members) -> Any:
        value: Any = object.__new__(self.type)
        for name, default in self.undeclared:
            object.__setattr__(value, name, default)
        for name, member in members.items():
            object.__setattr__(value, self.attributes[name], member)
        return value

    def _check(self) -> None:
        """Refuse a declaration that could not be written or read, so that it fails when its module is imported."""
        names = self.attributes
        if {NAME, VERSION} & names.keys() or not all(name.isidentifier() for name in (self.name, *names)):
            self._refuse(f"stored names are words, and no field is called {NAME!r} or {VERSION!r}")
        if self.optional.keys() - names.keys():
            self._refuse("every field in `optional` must be in `fields`, too")
        if self.upgrades.keys() != set(range(1, self.version)):
            self._refuse(f"version {self.version} needs an upgrade from every version before it")
        if self._members is None:
            self._check_attributes()
        if self._make is None and (unknown := set(self._parameters.values()) - self._taken):
            self._refuse(f"its constructor does not take {', '.join(sorted(unknown))}; give `make`")

    def _check_attributes(self) -> None:
        for name, attribute in self.attributes.items():
            if attribute.startswith("_"):
                self._refuse(f"the field {name!r} is stored from {attribute!r}; store public attributes alone")
            if attribute not in self._there:
                self._refuse(
                    f"there is no attribute {attribute!r}. If it was renamed, map the stored name to the new one,"
                    f' as in fields={{"{name}": "new_name"}}; if it is gone, raise `version` and add an upgrade'
                )
        self.undeclared  # noqa: B018 - which refuses a field without a default

    @cached_property
    def _there(self) -> frozenset[str]:
        """The attributes that instances have: declared, computed, or set by a constructor."""
        line = self.type.__mro__[:-1]
        found = {name for each in line for name in (*vars(each), *vars(each).get("__annotations__", ()))}
        inits: Iterable[Any] = (vars(each).get("__init__") for each in line)
        return frozenset(found.union(*(init.__code__.co_names for init in inits if hasattr(init, "__code__"))))

    @cached_property
    def _parameters(self) -> dict[str, str]:
        """The parameter of the constructor for each stored field: called like its attribute, or else like the field."""
        return {name: each if each in self._taken else name for name, each in self.attributes.items()}

    @cached_property
    def _same_names(self) -> bool:
        return all(name == parameter for name, parameter in self._parameters.items())

    @cached_property
    def _taken(self) -> frozenset[str]:
        """The parameters of the constructor."""
        made_by: Any = self.type.__new__ if issubclass(self.type, tuple) else self.type.__init__
        if not hasattr(made_by, "__code__"):
            return frozenset()
        code = made_by.__code__
        return frozenset(code.co_varnames[1 : code.co_argcount + code.co_kwonlyargcount])

    def _refuse(self, reason: str) -> NoReturn:
        raise TypeError(f"@stored({self.name!r}) on {self.type.__qualname__}: {reason}.")


def _same(value: Any, default: Any) -> bool:
    return value is default or (type(value) is type(default) and bool(value == default))


def bare(**members: Any) -> Any:
    """For `make`: set the attributes, and call no constructor, as of a type whose parameters are not its fields."""
    raise NotImplementedError


BY_TYPE: dict[type, StoredType] = {}
BY_NAME: dict[str, StoredType] = {}


def stored(
    name: str,
    fields: Iterable[str] | Mapping[str, str] = (),
    *,
    version: int = 1,
    optional: Mapping[str, Any] | None = None,
    omit: Sequence[str] = (),
    make: Callable[..., Any] | None = None,
    members: Callable[[Any], Sequence[Any]] | None = None,
    upgrades: Mapping[int, Upgrade] | None = None,
    keep: bool = False,
) -> Callable[[C], C]:
    """A decorator that gives a type its stored name and its stored fields.

    `fields` are public attributes; a mapping has a stored name for each.  Those in `optional` are left out where they
    have the value given there.  Fields of a dataclass in `omit` are never stored.
    `make` builds a value from the stored fields, by default the constructor, whose parameters are called like the
    attributes or the fields; `bare` sets the attributes alone.
    `members` gives the values of the fields where they are not attributes.  Values that are long and written often
    `keep` their text.
    """
    attributes = dict(fields) if isinstance(fields, Mapping) else {each: each for each in fields}

    def register(type_: C) -> C:
        kind = StoredType(
            type_,
            name,
            attributes,
            version=version,
            optional=optional or {},
            omit=omit,
            make=make,
            members=members,
            upgrades=upgrades or {},
            keep=keep,
        )
        if BY_NAME.setdefault(name, kind) is not kind or BY_TYPE.setdefault(type_, kind) is not kind:
            kind._refuse("this name, or this type, is stored already")
        return type_

    return register


def stored_name(type_: type) -> str:
    """The stored name of a type."""
    if (kind := BY_TYPE.get(type_)) is None:
        raise Unwritable(f"{type_.__name__} is no stored type")
    return kind.name


def kinds() -> Iterator[StoredType]:
    """All stored types that were imported, by name."""
    return iter(sorted(BY_NAME.values(), key=lambda kind: kind.name))
