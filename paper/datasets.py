"""The twelve tables of the paper and the four mixed ones: where they are and how to read them."""
import dataclasses


@dataclasses.dataclass(frozen=True)
class Dataset:
    abbrev: str  # as the paper has it
    name: str  # at the UCI repository
    k: int  # classes, which is also how many clusters are wanted
    files: tuple  # file names to look for, the first that is there is taken
    orders: tuple = ()  # "column=a<b<c" where the order by meaning is not the one the reader gives anyway
    numeric: tuple = ()  # columns that are quantities

    def find(self, folder):
        return next((folder / name for name in self.files if (folder / name).is_file()), None)

    def options(self):
        """What `coforest fit` and `coforest compare` must be told to read the table."""
        given = ["--label", "class", "-k", str(self.k)]
        for order in self.orders:
            given += ["--ordinal", order]
        if not self.numeric:
            return given + ["--quantities", "values"]
        return given + ["--quantities", "scaled", "--numeric", ",".join(self.numeric), "--scale", "range"]


DATASETS = (
    Dataset("HR", "Hayes-Roth", 3, ("hr.csv",)),
    Dataset("CE", "Car Evaluation", 4, ("ce.csv",),
            ("buying=low<med<high<vhigh", "maint=low<med<high<vhigh", "doors=2<3<4<5more", "persons=2<4<more",
             "lug_boot=small<med<big", "safety=low<med<high")),
    Dataset("AC", "Statlog (Australian Credit Approval)", 2, ("ac.csv",)),
    Dataset("VT", "Congressional Voting Records", 2, ("vt.csv", "voting.csv")),
    Dataset("CS", "Caesarian Section", 2, ("cs.csv",), ("delivery_time=1<0<2",)),  # premature, timely, latecomer
    Dataset("SB", "Soybean (Small)", 4, ("sb.csv",), ("germination=2<1<0",)),
    Dataset("NS", "Nursery", 5, ("ns.csv",),
            ("parents=usual<pretentious<great_pret", "has_nurs=proper<less_proper<improper<critical<very_crit",
             "form=complete<completed<incomplete<foster", "children=1<2<3<more",
             "housing=convenient<less_conv<critical", "finance=convenient<inconv",
             "social=nonprob<slightly_prob<problematic", "health=recommended<priority<not_recom")),
    Dataset("ZO", "Zoo", 7, ("zo.csv", "zoo.csv")),
    Dataset("TS", "Thoracic Surgery Data", 2, ("ts.csv",)),
    Dataset("HF", "Heart Failure Clinical Records", 2, ("hf.csv",)),
    Dataset("DS", "Acute Inflammations", 2, ("ds.csv",)),
    Dataset("LS", "Lenses", 3, ("ls.csv", "lenses.csv"),
            ("age=young<pre-presbyopic<presbyopic", "spectacle_prescription=myope<hypermetrope",
             "tear_production_rate=reduced<normal")),
)

MIXED = (
    Dataset("AC", "Statlog (Australian Credit Approval)", 2, ("ac_mixed.csv",), (),
            ("A2", "A3", "A7", "A10", "A13", "A14")),
    Dataset("TS", "Thoracic Surgery Data", 2, ("ts_mixed.csv",), (), ("forced_vital_capacity", "fev1", "age")),
    Dataset("HF", "Heart Failure Clinical Records", 2, ("hf_mixed.csv",), (),
            ("age", "creatinine_phosphokinase", "ejection_fraction", "platelets", "serum_creatinine", "serum_sodium",
             "time")),
    Dataset("DS", "Acute Inflammations", 2, ("ds_mixed.csv",), (), ("temperature",)),
)
