// Markdown of the manual as HTML of /docs.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { docsPages } from '../../../src/web/docs/pages.ts'

const EXAMPLES: [name: string, markdown: string, expected: string][] = [
  ['a heading with an anchor', '## Días: a `b`', '<h2 id="dias-a-b">Días: a <code>b</code></h2>'],
  ['an anchor of letters and digits alone', '# ¿Qué? 1, C#', '<h1 id="que-1-c">¿Qué? 1, C#</h1>'],
  ['a paragraph of two lines', 'one\ntwo\n\nthree', '<p>one two</p> <p>three</p>'],
  [
    'emphasis and links, but not inside code',
    '**a** *b* [c](#d) `**e** [f](g)`',
    '<p><strong>a</strong> <em>b</em> <a href="#d">c</a> <code>**e** [f](g)</code></p>',
  ],
  [
    'raw HTML as text',
    '<b> & "c" \'d\' `<i>`\n\n<script>e</script>\n\n[f](/"g)',
    `<p>&lt;b&gt; &amp; &quot;c&quot; 'd' <code>&lt;i&gt;</code></p> ` +
      '<p>&lt;script&gt;e&lt;/script&gt;</p> <p><a href="/%22g">f</a></p>',
  ],
  ['an address as text', 'http://example.com', '<p>http://example.com</p>'],
  [
    'a code block without a change',
    '```sh\ncurl "a&b"   # *c*\n\n  d <pre>\n```\ntext',
    '<pre tabindex="0"><code class="language-sh">curl &quot;a&amp;b&quot;   # *c*\n\n  d &lt;pre&gt;\n</code></pre> ' +
      '<p>text</p>',
  ],
  ['a list whose items have two lines', '- one\n  more\n- two', '<ul> <li>one more</li> <li>two</li> </ul>'],
  ['a list with numbers', '1. one\n2. two', '<ol> <li>one</li> <li>two</li> </ol>'],
  [
    'a table',
    '| A | B |\n|---|---|\n| 1 | `x` |',
    '<div class="table" tabindex="0"><table> <thead> <tr> <th>A</th> <th>B</th> </tr> </thead> ' +
      '<tbody><tr> <td>1</td> <td><code>x</code></td> </tr> </tbody></table></div>',
  ],
]

for (const [name, markdown, expected] of EXAMPLES) {
  test(`the guides render ${name}`, () => {
    const { intro = '', article = '' } = readGuides(markdown)
    assert.equal((intro + article).trim(), expected)
  })
}

test('the guides list their sections behind the introduction', () => {
  const { intro, links, article } = readGuides('# A\n\ntext\n\n## B `c`\n\n### D\n\n## E & F\n')
  assert.equal(intro, '<h1 id="a">A</h1> <p>text</p> ')
  assert.equal(links, '<li><a href="#b-c">B c</a></li> <li><a href="#e-f">E &amp; F</a></li>')
  assert.match(article ?? '', /^<h2 id="b-c">.*<h3 id="d">.*<h2 id="e-f">/)
})

function readGuides(markdown: string): Record<string, string> {
  const { 'docs.html': html = '' } = docsPages({ en: markdown, es: '' }, {}, (name) => name)
  const { groups } =
    /<div class="intro">\s(?<intro>.*)<\/div>\s<nav.*<ol>\s(?<links>.*)\s<\/ol><\/nav>\s<article>\s(?<article>.*)<\/article>/s.exec(
      html,
    ) ?? {}
  return { ...groups }
}
