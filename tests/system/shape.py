"""The machine that a test asks for, as arguments for QEMU and as the topology Numen must find."""
from dataclasses import dataclass, field

MIB = 1 << 20
INTEL = "Skylake-Client"
INTEL_WITH_SVM = INTEL + ",+svm,+npt"  # TCG emulates AMD-V whatever the vendor


@dataclass
class Node:
    """A NUMA node: the numbers of its CPUs, and its memory in MiB."""
    cpus: range = range(0)
    memory: int = 0


@dataclass
class Shape:
    """CPUs are numbered thread by thread, core by core, die by die, socket by socket.

    distance: {(from, to): SLIT value} where it is not 10 (self) or 20; None for no SLIT.
    """
    sockets: int = 1
    dies: int = 1
    cores: int = 1
    threads: int = 1
    memory: int = 512
    nodes: list = field(default_factory=list)
    distance: dict = None
    machine: str = "q35"
    cpu: str = "max"

    def __post_init__(self):
        if self.nodes:
            self.memory = sum(node.memory for node in self.nodes)

    @property
    def cpus(self):
        return self.sockets * self.dies * self.cores * self.threads

    def node_of(self, cpu):
        for number, node in enumerate(self.nodes):
            if cpu in node.cpus:
                return number
        return 0

    def distances(self):
        count = max(len(self.nodes), 1)
        given = self.distance or {}
        return [[given.get((a, b), 10 if a == b else 20) for b in range(count)]
                for a in range(count)]

    def place(self, cpu):
        """Where `topology --json` must put the CPU."""
        core = cpu // self.threads
        die = core // self.cores
        socket = die // self.dies
        # QEMU gives each die an L3; `max` shows no caches under TCG, which leaves the socket.
        llc = socket if self.cpu.startswith("max") else die
        return {"cpu": cpu, "thread": cpu % self.threads, "core": core, "llc": llc,
                "socket": socket, "node": self.node_of(cpu), "online": True}

    def qemu_arguments(self):
        smp = f"{self.cpus},sockets={self.sockets},dies={self.dies}," \
              f"cores={self.cores},threads={self.threads}"
        arguments = ["-machine", self.machine, "-cpu", self.cpu, "-m", f"{self.memory}M",
                     "-smp", smp]
        for number, node in enumerate(self.nodes):
            entry = f"node,nodeid={number}"
            if node.memory:
                arguments += ["-object", f"memory-backend-ram,id=m{number},size={node.memory}M"]
                entry += f",memdev=m{number}"
            if len(node.cpus):
                entry += f",cpus={node.cpus[0]}-{node.cpus[-1]}"
            arguments += ["-numa", entry]
        for (source, target), value in (self.distance or {}).items():
            arguments += ["-numa", f"dist,src={source},dst={target},val={value}"]
        return arguments
