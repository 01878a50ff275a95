"""The figures that the paper and its supplement print."""
import csv
import math
import pathlib

METHODS = {"KMD": "kmodes", "LSM": "lsm", "JDM": "jdm", "CBDM": "cbdm", "OCIL": "ocil", "UDMC": "udm", "DLC": "dlc",
           "H2H": "h2h", "HDC": "hdc", "ADC": "adc", "COForest": "coforest"}  # the paper's name: ours
OWN = "COForest"
METRICS = ("CA", "ARI", "NMI")
RUNS = 10  # every printed mean is a mean of ten runs
P_VALUES = {"CA": 0.00020, "ARI": 0.00002, "NMI": 0.0025}  # of Friedman's test
CRITICAL_DIFFERENCES = (3.8048, 3.5204)  # at 0.05 and at 0.1
RANKS = {
    "CA": (7.2500, 7.2083, 6.7917, 6.4583, 7.0833, 6.5833, 5.3750, 6.3750, 6.2083, 5.5833, 1.0833),
    "ARI": (8.6667, 7.0000, 6.5417, 6.7500, 5.2083, 6.0833, 4.7083, 6.5417, 7.0833, 6.3333, 1.0833),
    "NMI": (7.6250, 6.5417, 6.9583, 7.3750, 5.5000, 6.0000, 5.0417, 5.4167, 7.3333, 6.2917, 1.9167),
}
# CA of k-prototypes, ek-prototypes and COForest, read off the supplement's figure to about 0.01.
MIXED = {"AC": (0.77, 0.77, 0.835), "TS": (0.57, 0.54, 0.585), "HF": (0.56, 0.63, 0.64), "DS": (0.60, 0.715, 0.825)}
# Datasets on which the first is not worse than the second.
ABLATIONS = {("coforest", "cof1"): 12, ("cof1", "cof2"): None, ("cof1", "cof3"): 10, ("cof3", "cof4"): 10}


def read_tables():
    """{(metric, dataset, method): (mean, deviation)}; NaN where the paper prints a dash."""
    with open(pathlib.Path(__file__).with_name("printed_tables.csv"), encoding="utf-8") as file:
        return {(row["metric"], row["dataset"], row["method"]):
                tuple(float(row[key]) if row[key] else math.nan for key in ("mean", "deviation"))
                for row in csv.DictReader(file)}
