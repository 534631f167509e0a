// An agent that calls tools with the official SDK of the time of revision 2025-11-25, which opens with `initialize`.
//
//   node mcp-sdk.mjs URL HEADERS CALLS     HEADERS and CALLS in JSON; a call is [name, arguments]

import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'

const [target = '', headers = '{}', calls = '[]'] = process.argv.slice(2)
const transport = target.startsWith('http')
  ? new StreamableHTTPClientTransport(new URL(target), { requestInit: { headers: JSON.parse(headers) } })
  : new StdioClientTransport({ command: process.execPath, args: JSON.parse(target) })
const client = new Client({ name: 'agent', version: '1' })
await client.connect(transport)
const { tools } = await client.listTools()
const results = []
for (const [name, args] of JSON.parse(calls)) results.push(await client.callTool({ name, arguments: args }))
const { resources } = await client.listResources()
await client.close()
const { name } = client.getServerVersion()
const summary = {
  name,
  tools: tools.map((one) => one.name),
  results,
  resources: resources.map(({ uri }) => uri),
}
process.stdout.write(JSON.stringify(summary))
