"""A table made to break pages: names that are markup, quotes, right-to-left text, emoji, and very long ones."""
import csv
import os
import random
import subprocess

NAMES = [
    "<script>document.title='PWNED'</script>", "<img src=x onerror=\"document.title='PWNED'\">",
    "\"><svg onload=document.title='PWNED'>", "' onmouseover='document.title=1", "</style><script>alert(1)</script>",
    "]]><!-- ", "javascript:alert(1)", "&lt;b&gt;", "a\"b'c`d", "\u05e9\u05dc\u05d5\u05dd \u05e2\u05d5\u05dc\u05dd",
    "\u0645\u0631\u062d\u0628\u0627", "\u202eevil\u202c", "\U0001f98a\U0001f469\u200d\U0001f680", "\u200b", "line\nbreak",
    "tab\there", "  spaces  ", "comma, and ; semicolon", "x" * 400, "\u6f22\u5b57" * 60, "</title>", "</textarea>",
    "{{constructor.constructor('alert(1)')()}}", "%s%n%x", "NULL", "-0", "\\u003cscript\\u003e",
]


def write(path, n_rows, n_columns, n_clusters, n_values=5, seed=1):
    """Planted clusters; every column and value name contains something nasty. Column 0 names the rows."""
    rng = random.Random(seed)
    columns = [f"{NAMES[c % len(NAMES)]} {c}" for c in range(n_columns)]
    values = [[f"{NAMES[(c + v) % len(NAMES)]}/{v}" for v in range(100 if c == 1 else n_values)]
              for c in range(n_columns)]
    modes = [[rng.randrange(len(values[c])) for c in range(n_columns)] for _ in range(n_clusters)]
    with open(path, "w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow(["name <b>of</b> row", "true <i>class</i>"] + columns)
        for i in range(n_rows):
            cluster = i % n_clusters
            cells = [values[c][modes[cluster][c] if rng.random() < 0.6 else rng.randrange(len(values[c]))]
                     for c in range(n_columns)]
            out.writerow([f"{NAMES[i % len(NAMES)]}#{i}", f"class {NAMES[cluster % len(NAMES)]} {cluster}"] + cells)


def write_large(path, coforest, n_rows, n_columns):
    """Many rows, made by the program itself; the header, and one column's values, replaced by nasty ones."""
    plain = f"{path}.plain"
    subprocess.run([coforest, "generate", "--kind", "planted", "--rows", str(n_rows), "--columns", str(n_columns),
                    "--out", plain], check=True)
    names = [f"{NAMES[c % len(NAMES)]} {c}" for c in range(n_columns)] + ["true <i>class</i>"]
    with open(plain, encoding="utf-8") as rows, open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerow(names)
        next(rows)
        nasty = {str(v + 1): NAMES[v] for v in range(5)}
        quoted = {value: '"' + name.replace('"', '""') + '"' for value, name in nasty.items()}
        for row in rows:
            value, _, rest = row.partition(",")
            file.write(quoted[value] + "," + rest)
    os.remove(plain)
