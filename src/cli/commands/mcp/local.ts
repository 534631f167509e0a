// MCP over a data directory, without a server: what only reads. Any user who can read the files may ask everything, so that
// there are no keys and tokens; waiting and claiming are the server's.

import type { DocumentQueries } from '../../../http/mcp/documents/queries.ts'
import { createMcpServer } from '../../../http/mcp/protocol/server.ts'
import type { Caller } from '../../../http/mcp/protocol/tool.ts'
import type { CatalogueDeps } from '../../../http/mcp/rates/catalogue.ts'
import { resourcesOver, toolsOver } from '../../../http/mcp/tools.ts'
import type { Log } from '../../../log.ts'
import type { Answering } from './stdio.ts'

const EVERYTHING: Caller = {
  hasKey: true,
  token: { id: 0, name: 'cli', company_id: null, agent_id: null, allow: ['documents:GET'] },
  watch: () => ({ [Symbol.dispose]() {} }),
  checkAgain: () => Promise.reject(new TypeError('nothing waits here')),
}

export function answersFrom(deps: CatalogueDeps & { documents: DocumentQueries; log: Log }): Answering {
  const { documents, cache, log } = deps
  const tools = toolsOver(deps, documents)
  const server = createMcpServer({ tools, resources: resourcesOver(deps, documents), log })
  return async ({ value }) => {
    await cache.refresh() // another process writes
    const { answer } = await server.answer(value, EVERYTHING)
    return answer
  }
}
