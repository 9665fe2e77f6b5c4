"""A seed's file, tests/seeds/seedN.ini: a scenario, and what is compared in it.

numen-sim reads the file as it is and passes over the sections that are read here:

    [acceptance]      seed=, title=, source=, claim.N= lines for people; seeds= how many random ones,
                      unless --seeds says so; default=trade: Numen's default is not held against
                      the arms
    [arm a] [arm b] [arm default]    label= and settings: the same scenario, one option changed
    [row ID]          name=, metric= (runs.py), unit=, better=, seed_a=, seed_b=, claim= (judge.py),
                      axes=, ablate=, group= and tried= for the report, drop= VMs, and settings
    [variant AXIS ID] label=, declared=yes for one of an axis, and settings: rows with axes=AXIS are run
                      with each; only the declared one is judged
    [ablation ID]     label= and settings: Numen's default without something, for rows with ablate=yes

A setting has a point in its name and is spelt as for --set: vm.web.vcpus=4, options.numa=off.
"""
import configparser
from dataclasses import dataclass, field

OURS = ("acceptance", "arm", "row", "variant", "ablation")


def section_and_key(setting):
    """"vm.web.vcpus" -> ("vm web", "vcpus"), as numen-sim takes --set apart."""
    section, _, key = setting.rpartition(".")
    if section.startswith("vm."):
        section = "vm " + section[3:]
    return section, key


def line_of(key, value):
    """A long value goes on in indented lines."""
    return f"{key}={value}".replace("\n", "\n  ") + "\n"


@dataclass
class Part:
    """A section of ours: its words, and the settings it makes."""
    id: str
    words: dict
    settings: dict

    @property
    def label(self):
        return self.words.get("label", self.id)


@dataclass
class Case:
    """A row under one choice of variants; the declared one is the seed's."""
    row: Part
    variants: tuple
    declared: bool

    @property
    def name(self):
        name = self.row.words.get("name", self.row.id)
        other = [v.label for v in self.variants if not v.words.get("declared")]
        return f"{name} [{', '.join(other)}]" if other else name


@dataclass
class Seed:
    path: str
    base: dict                      # section -> {key: value}, as numen-sim reads it
    acceptance: dict
    arms: dict = field(default_factory=dict)
    rows: list = field(default_factory=list)
    variants: dict = field(default_factory=dict)   # axis -> [Part]
    ablations: list = field(default_factory=list)

    @property
    def number(self):
        return int(self.acceptance["seed"])

    def cases(self):
        for row in self.rows:
            axes = row.words.get("axes", "").split()
            declared = {axis: self.declared(axis) for axis in axes}
            yield Case(row, tuple(declared.values()), True)
            for axis in axes:
                for variant in self.variants[axis]:
                    if variant is not declared[axis]:
                        yield Case(row, tuple({**declared, axis: variant}.values()), False)

    def declared(self, axis):
        found = [v for v in self.variants[axis] if v.words.get("declared") == "yes"]
        if len(found) != 1:
            raise ValueError(f"{self.path}: axis {axis} needs exactly one variant with declared=yes")
        return found[0]

    def scenario(self, case, arm, ablation=None, limits=None):
        """The text of the scenario of one run."""
        sections = {name: dict(keys) for name, keys in self.base.items()}
        for name in case.row.words.get("drop", "").split():
            del sections[f"vm {name}"]
        parts = [self.arms[arm], case.row, *case.variants] + ([ablation] if ablation else [])
        for part in parts:
            for setting, value in part.settings.items():
                section, key = section_and_key(setting)
                sections.setdefault(section, {})[key] = value
        sections.setdefault("run", {}).update(limits or {})
        return "".join(f"[{name}]\n" + "".join(line_of(*item) for item in keys.items()) + "\n"
                       for name, keys in sections.items())


def read(path):
    parser = configparser.ConfigParser(delimiters=("=",), comment_prefixes=(";", "#"),
                                       interpolation=None, default_section="\0")
    parser.optionxform = str
    with open(path, encoding="utf-8") as file:
        parser.read_file(file)
    ours = {n: dict(parser[n]) for n in parser.sections() if n.split()[0] in OURS}
    seed = Seed(str(path), {n: dict(parser[n]) for n in parser.sections() if n not in ours},
                ours.pop("acceptance"))
    for name, keys in ours.items():
        kind, *words = name.split()
        settings = {k: v for k, v in keys.items() if "." in k}
        part = Part(words[-1], {k: v for k, v in keys.items() if "." not in k}, settings)
        if kind == "arm":
            seed.arms[part.id] = part
        elif kind == "row":
            seed.rows.append(part)
        elif kind == "variant":
            seed.variants.setdefault(words[0], []).append(part)
        else:
            seed.ablations.append(part)
    if set(seed.arms) != {"a", "b", "default"}:
        raise ValueError(f"{path}: there must be [arm a], [arm b] and [arm default]")
    return seed
