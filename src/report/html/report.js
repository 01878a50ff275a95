'use strict';
/* Filter, sort and hover. Without it all stays readable; what only works with it is hidden until now. */
(function () {
  var each = function (list, f) { Array.prototype.forEach.call(list, f); };
  var all = function (selector, from) { return (from || document).querySelectorAll(selector); };

  /* Controls that need a script. */
  each(all('[data-script]'), function (e) { e.hidden = false; });

  /* Filter: an input shows those children of its target that contain what was typed. */
  each(all('input[data-filter]'), function (input) {
    var said = document.getElementById(input.getAttribute('data-said'));
    input.addEventListener('input', function () {
      var wanted = input.value.trim().toLowerCase(), shown = 0;
      var items = all(input.getAttribute('data-filter'));
      each(items, function (item) {
        item.hidden = wanted !== '' && item.getAttribute('data-name').toLowerCase().indexOf(wanted) < 0;
        if (item.hidden || wanted === '') return;
        shown++;
        var fold = item.parentNode.closest('details');
        if (fold) fold.open = true;
      });
      if (said) said.textContent = wanted === '' ? '' : shown + ' of ' + items.length + ' shown';
    });
  });

  /* Sort: a heading cell becomes a button. Cells may carry data-v, the number behind their text. */
  var value = function (row, at) {
    var cell = row.cells[at], v = cell ? cell.getAttribute('data-v') : null;
    var text = v !== null ? v : cell ? cell.textContent.trim() : '', number = Number(text);
    return text !== '' && !isNaN(number) ? number : text.toLowerCase();
  };
  var compare = function (a, b) {
    if (typeof a === typeof b) return a < b ? -1 : a > b ? 1 : 0;
    return typeof a === 'number' ? -1 : 1;
  };
  each(all('table[data-sort]'), function (table) {
    each(all('thead th', table), function (head, at) {
      var button = document.createElement('button');
      button.type = 'button';
      while (head.firstChild) button.appendChild(head.firstChild);
      head.appendChild(button);
      button.addEventListener('click', function () {
        var down = head.getAttribute('aria-sort') === 'ascending', body = table.tBodies[0];
        each(all('thead th', table), function (other) { other.removeAttribute('aria-sort'); });
        head.setAttribute('aria-sort', down ? 'descending' : 'ascending');
        var rows = Array.prototype.slice.call(body.rows);
        rows.sort(function (a, b) { return (down ? -1 : 1) * compare(value(a, at), value(b, at)); });
        rows.forEach(function (row) { body.appendChild(row); });
      });
    });
  });

  /* The map's legend: press a cluster to see it alone. */
  each(all('button[data-cluster]'), function (button) {
    button.addEventListener('click', function () {
      var on = button.getAttribute('aria-pressed') !== 'true';
      each(all('button[data-cluster]'), function (b) { b.setAttribute('aria-pressed', b === button && on); });
      each(all('.cof-map g'), function (g) {
        var same = g.getAttribute('data-cluster') === button.getAttribute('data-cluster');
        g.classList.toggle('away', on && !same);
      });
    });
  });

  /* Hover: a shape's <title> at once, not after the browser's pause. The text moves, so it shows once. */
  var tip = document.createElement('div'), told = new WeakMap();
  tip.id = 'tip';
  tip.hidden = true;
  tip.setAttribute('role', 'presentation');
  document.body.appendChild(tip);
  var textOf = function (e) {
    for (; e && e.namespaceURI === 'http://www.w3.org/2000/svg'; e = e.parentNode) {
      if (told.has(e)) return told.get(e);
      var first = e.firstElementChild;
      if (first && first.nodeName === 'title') {
        told.set(e, first.textContent);
        e.removeChild(first);
        return told.get(e);
      }
    }
    return null;
  };
  var place = function (event) {
    var x = Math.min(event.clientX + 14, window.innerWidth - tip.offsetWidth - 8);
    var y = event.clientY + 18;
    if (y + tip.offsetHeight > window.innerHeight) y = event.clientY - tip.offsetHeight - 10;
    tip.style.left = Math.max(x, 4) + 'px';
    tip.style.top = Math.max(y, 4) + 'px';
  };
  document.addEventListener('pointerover', function (event) {
    var text = textOf(event.target);
    tip.hidden = text === null;
    if (text !== null) { tip.textContent = text; place(event); }
  });
  document.addEventListener('pointermove', function (event) { if (!tip.hidden) place(event); });
})();
