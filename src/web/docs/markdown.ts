// Renders the Markdown of the manual as HTML: headings, paragraphs, lists, tables, code, links and emphasis. Raw HTML is
// escaped. Other forms of Markdown are paragraphs.

export type DocHeading = { level: number; text: string; id: string }

type RenderedBlock = { html: string; heading?: DocHeading }

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
const ITEM = /^(?:-|\d+\.) /

/** Returns the HTML of each block in its order, and the heading of a block that is one. */
export function renderMarkdown(text: string): RenderedBlock[] {
  const lines = text.split('\n')
  const blocks: RenderedBlock[] = []
  while (lines.length > 0) {
    if (lines[0] === '') lines.shift()
    else blocks.push(renderBlock(lines))
  }
  return blocks
}

/** Returns the anchor of a heading: its letters and digits without accents, joined by hyphens. */
export function headingId(text: string): string {
  const plain = text.normalize('NFD').replaceAll(/\p{M}/gu, '').toLowerCase()
  return plain.replaceAll(/[^a-z\d]+/g, '-').replaceAll(/^-|-$/g, '')
}

/** Renders the first block, and removes its lines. */
function renderBlock(lines: string[]): RenderedBlock {
  const [first = ''] = lines
  const [, signs, title = ''] = /^(#{1,6}) (.*)$/.exec(first) ?? []
  if (signs) {
    lines.shift()
    const heading = { level: signs.length, text: title, id: headingId(title) }
    return { heading, html: `<h${heading.level} id="${heading.id}">${inline(title)}</h${heading.level}>` }
  }
  if (first.startsWith('```')) return { html: renderCode(lines) }
  if (first.startsWith('|')) return { html: renderTable(takeLines(lines, (line) => line.startsWith('|'))) }
  if (ITEM.test(first)) return { html: renderList(takeLines(lines, (line) => line !== '')) }
  const isText = (line: string) => line !== '' && !/^(#|```|\|)/.test(line) && !ITEM.test(line)
  return { html: `<p>${inline(takeLines(lines, isText).join(' '))}</p>` }
}

function renderCode(lines: string[]): string {
  const [, language] = /^```(\w*)/.exec(lines.shift() ?? '') ?? []
  const code = takeLines(lines, (line) => line !== '```', 0).join('\n')
  lines.shift()
  const name = language ? ` class="language-${language}"` : ''
  // A block that scrolls must be reachable by the keyboard.
  return `<pre tabindex="0"><code${name}>${escapeHtml(code)}\n</code></pre>`
}

function renderList(lines: string[]): string {
  const items: string[] = []
  for (const line of lines) {
    if (ITEM.test(line)) items.push(line.replace(ITEM, ''))
    else items.push(`${items.pop() ?? ''} ${line.trim()}`)
  }
  const tag = lines[0]?.startsWith('-') ? 'ul' : 'ol'
  return `<${tag}>${items.map((item) => `<li>${inline(item)}</li>`).join('\n')}</${tag}>`
}

function renderTable(lines: string[]): string {
  const cells = (line: string, tag: string) => {
    const texts = line.replaceAll(/^\||\|$/g, '').split('|')
    return `<tr>${texts.map((text) => `<${tag}>${inline(text.trim())}</${tag}>`).join('')}</tr>`
  }
  const [head = '', , ...rows] = lines
  const body = rows.map((row) => cells(row, 'td')).join('\n')
  return `<div class="table" tabindex="0"><table><thead>${cells(head, 'th')}</thead><tbody>${body}</tbody></table></div>`
}

/** Removes leading lines while the condition is true, and at least `least` of them. */
function takeLines(lines: string[], condition: (line: string) => boolean, least = 1): string[] {
  const end = lines.findIndex((line, at) => at >= least && !condition(line))
  return lines.splice(0, end === -1 ? lines.length : end)
}

function inline(text: string): string {
  // Odd parts are code.
  const parts = text.split(/`([^`]+)`/)
  return parts
    .map((part, at) => (at % 2 === 1 ? `<code>${escapeHtml(part)}</code>` : emphasis(escapeHtml(part))))
    .join('')
}

function emphasis(html: string): string {
  return html
    .replaceAll(/\*\*([^*]+)\*\*/g, '<strong>$1</strong>')
    .replaceAll(/\*([^*]+)\*/g, '<em>$1</em>')
    .replaceAll(/\[([^\]]+)\]\(([^)\s]+)\)/g, '<a href="$2">$1</a>')
}

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"]/g, (sign) => ESCAPES[sign] ?? sign)
}
