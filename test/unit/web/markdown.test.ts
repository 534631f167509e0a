// Markdown of the manual as HTML of /docs.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { headingId, renderMarkdown } from '../../../src/web/docs/markdown.ts'

const html = (text: string) =>
  renderMarkdown(text)
    .map((block) => block.html)
    .join('\n')

const EXAMPLES: [name: string, markdown: string, expected: string][] = [
  ['a heading with an anchor', '## Días: a `b`', '<h2 id="dias-a-b">Días: a <code>b</code></h2>'],
  ['a paragraph of two lines', 'one\ntwo\n\nthree', '<p>one two</p>\n<p>three</p>'],
  [
    'emphasis and links, but not inside code',
    '**a** *b* [c](#d) `**e** [f](g)`',
    '<p><strong>a</strong> <em>b</em> <a href="#d">c</a> <code>**e** [f](g)</code></p>',
  ],
  ['raw HTML as text', '<b> & "c" `<i>`', '<p>&lt;b&gt; &amp; &quot;c&quot; <code>&lt;i&gt;</code></p>'],
  [
    'a code block without a change',
    '```sh\ncurl "a&b"   # *c*\n\n  d\n```\ntext',
    '<pre tabindex="0"><code class="language-sh">curl &quot;a&amp;b&quot;   # *c*\n\n  d\n</code></pre>\n<p>text</p>',
  ],
  ['a list whose items have two lines', '- one\n  more\n- two', '<ul><li>one more</li>\n<li>two</li></ul>'],
  ['a list with numbers', '1. one\n2. two', '<ol><li>one</li>\n<li>two</li></ol>'],
  [
    'a table',
    '| A | B |\n|---|---|\n| 1 | `x` |',
    '<div class="table" tabindex="0"><table><thead><tr><th>A</th><th>B</th></tr></thead>' +
      '<tbody><tr><td>1</td><td><code>x</code></td></tr></tbody></table></div>',
  ],
]

for (const [name, markdown, expected] of EXAMPLES) {
  test(`renderMarkdown renders ${name}`, () => assert.equal(html(markdown), expected))
}

test('renderMarkdown returns the headings with their levels', () => {
  const headings = renderMarkdown('# A\n\ntext\n\n### B c\n').flatMap(({ heading }) => heading ?? [])
  assert.deepEqual(headings, [
    { level: 1, text: 'A', id: 'a' },
    { level: 3, text: 'B c', id: 'b-c' },
  ])
})

test('headingId has letters and digits alone', () => {
  assert.equal(headingId('¿Qué? Una sola vez, C#'), 'que-una-sola-vez-c')
})
