import { describe, expect, it } from 'vitest';
import { checkTemplate, template } from './template.ts';

const render = (source: string, variables: Record<string, unknown> = {}) => template(source).render(variables);

describe('template', () => {
  it.each<[string, Record<string, unknown>, string]>([
    ['Hello {{ name }}.', { name: 'Zoë' }, 'Hello Zoë.'],
    ['{% for m in memories %}- {{ m }}\n{% endfor %}', { memories: ['a', 'b'] }, '- a\n- b\n'],
    ['{% if a == "x" %}yes{% else %}no{% endif %}', { a: 'y' }, 'no'],
    ['{% assign b = a %}{{ b }}', { a: 1 }, '1'],
    ['{{ a | json }}', { a: { b: ['"', 1, null] } }, '{"b":["\\"",1,null]}'],
    ['{{ a }}', { a: '<b>&amp; "quoted"</b>' }, '<b>&amp; "quoted"</b>'],
    ['{{ a.size }}', { a: 'xyz' }, '3'],
    ['', {}, ''],
  ])('renders %j', (source, variables, expected) => {
    expect(render(source, variables)).toBe(expected);
  });

  it('never runs what a value says', () => {
    const hostile = '{{ secret }}{% include "x" %}{% raw %}';
    expect(render('{{ a }}|{{ a | append: "" }}', { a: hostile, secret: 's' })).toBe(`${hostile}|${hostile}`);
  });

  it('renders each time with what it is given', () => {
    const made = template('{% assign b = a %}{{ b }}');
    expect(template('{% assign b = a %}{{ b }}')).toBe(made);
    expect([made.render({ a: 1 }), made.render({ a: 2 })]).toEqual(['1', '2']);
  });

  it.each([
    '{{ a }}',
    '{{ a | default: "d" }}',
    '{% if a %}x{% endif %}',
    '{{ known.other }}',
    '{{ toString }}',
    '{{ constructor }}',
    '{{ __proto__ }}',
  ])('throws for the unknown variable in %s', (source) => {
    expect(() => render(source, { known: {} })).toThrow('undefined variable');
  });

  it.each([
    '{{ a.constructor }}',
    '{{ a["constructor"] }}',
    '{{ a.__proto__ }}',
    '{{ text.constructor }}',
    '{{ list.map }}',
    '{{ a.method }}',
    '{% if a.constructor %}x{% endif %}',
    '{{ list | where: "constructor" }}',
  ])('reads no property that is not a value of its own: %s', (source) => {
    class Thing {
      method() {
        return 'called';
      }
    }
    expect(() => render(source, { a: new Thing(), text: 'x', list: [{}] })).toThrow('undefined variable');
  });

  it.each(['include', 'render', 'layout'])('has no way to another file by "%s"', (tag) => {
    for (const file of ['"package.json"', '"/etc/passwd"', '"../package.json"', 'a']) {
      expect(() => render(`{% ${tag} ${file} %}`, { a: 'package.json' })).toThrow('cannot include another file');
    }
  });

  it('throws for an unknown filter and for bad syntax', () => {
    expect(() => template('{{ a | jsn }}')).toThrow('undefined filter: jsn');
    expect(() => template('{{ a ')).toThrow('not closed');
  });

  it('ends a loop that never would', () => {
    expect(() => render('{% for i in (1..100000000) %}x{% endfor %}')).toThrow('limit exceeded');
  });
});

describe('checkTemplate', () => {
  const check = (source: string) => checkTemplate(source, ['a', 'b'], ['a']);

  it.each([
    '{{ a }}',
    '{{ a }}{{ b }}',
    '{{ a | json }}',
    '{% if b %}{{ a }}{% endif %}',
    '{% for x in a %}{{ x }}{{ forloop.index }}{% endfor %}',
    '{% assign c = a %}{{ c }}',
    '{% capture c %}{{ a }}{% endcapture %}{{ c }}',
    '{{ a }}{% comment %}{{ unknown }}{% endcomment %}{% raw %}{{ unknown }}{% endraw %}',
  ])('finds nothing wrong with %s', (source) => {
    expect(check(source)).toEqual([]);
  });

  it.each([
    ['{{ a }}{{ c }}', 'c'],
    ['{{ a }}{{ c.d }}', 'c'],
    ['{{ a }}{% if false %}{{ c }}{% endif %}', 'c'],
    ['{{ a }}{% unless c %}x{% endunless %}', 'c'],
    ['{{ a }}{% for x in c %}{% endfor %}', 'c'],
    ['{{ a[c] }}', 'c'],
    ['{{ a | append: c }}', 'c'],
    ['{{ a }}{{ c }}{% assign c = 1 %}', 'c'],
    ['{{ A }}{{ a }}', 'A'],
  ])('finds the unknown variable in %s', (source, variable) => {
    expect(check(source)).toEqual([{ message: `unknown template variable "${variable}"`, variable }]);
  });

  it.each(['', 'Hello.', '{{ b }}', '{% comment %}{{ a }}{% endcomment %}', '{% raw %}{{ a }}{% endraw %}'])(
    'finds the missing variable in %j',
    (source) => {
      expect(check(source)).toEqual([{ message: 'the template never uses {{ a }}' }]);
    },
  );

  it('finds everything at once, each once', () => {
    expect(check('{{ c }}{{ d }}{{ c }}').map(({ message }) => message)).toEqual([
      'unknown template variable "c"',
      'unknown template variable "d"',
      'the template never uses {{ a }}',
    ]);
  });

  it.each([
    ['{{ a', 'output "{{ a" not closed', '{{ a'],
    ['Hello.\n{% if a %}yes', 'tag {% if a %} not closed', '{% if a %}'],
    ['{{ a | jsn }}', 'undefined filter: jsn', '{{ a | jsn }}'],
    ['{{ a }} {% nope %}', 'tag "nope" not found', '{% nope %}'],
    ['{% include "x" %}', 'a template cannot include another file', '{% include "x" %}'],
    ['{{ a }}{% render b %}', 'a template cannot include another file', '{% render b %}'],
  ])('tells what is wrong with %j, and where', (source, message, excerpt) => {
    expect(check(source)).toEqual([{ message, excerpt }]);
  });
});
