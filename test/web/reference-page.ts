// A page to compare the first paint with. Its requests are chained as those of the page of cambista, with fixed numbers
// of bytes. A fixed piece of work precedes its text.

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after } from 'node:test'

const HTML = `<!doctype html><title>reference</title><script src="/boot.js"></script>
<link rel="stylesheet" href="/style.css"><script type="module" src="/app.js"></script><div id="app"></div>`

/** Starts the server of the page, which is closed after the tests of the file. @returns its origin */
export async function openReferencePage(): Promise<string> {
  const files: Record<string, [type: string, content: string]> = {
    '/': ['text/html', HTML],
    '/boot.js': ['text/javascript', 'document.documentElement.lang = "es"'],
    '/style.css': ['text/css', `body { font: 16px sans-serif }${comment(7000)}`],
    '/app.js': ['text/javascript', `import { render } from '/chunk.js'; render()${comment(7000)}`],
    '/chunk.js': ['text/javascript', `export ${render}${comment(22_000)}`],
  }
  const server = createServer((request, response) => {
    const [type, content] = files[request.url ?? ''] ?? ['text/plain', '']
    response
      .writeHead(content ? 200 : 404, { 'content-type': type, 'cache-control': 'no-store' })
      .end(content)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  after(() => {
    server.close()
    server.closeAllConnections()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

function comment(bytes: number): string {
  return `\n/*${'x'.repeat(bytes)}*/`
}

/** Runs in the page. */
function render(): void {
  const rows = Array.from({ length: 5000 }, (_, at) => ({ name: `currency ${at}`, value: String(at / 7) }))
  for (let turn = 0; turn < 2; turn++) JSON.parse(JSON.stringify(rows))
  const list = document.createElement('ul')
  for (const { name, value } of rows.slice(0, 200)) {
    const row = document.createElement('li')
    row.textContent = `${name} ${value}`
    list.append(row)
  }
  document.querySelector('#app')?.append(list)
}
