// An agent that calls tools with the official SDK of an older revision, which opens with `initialize`.
//
//   node mcp-sdk.mjs SDK URL HEADERS CALLS     HEADERS and CALLS in JSON; a call is [name, arguments]

const [sdk = '', target = '', headers = '{}', calls = '[]'] = process.argv.slice(2)
const load = (module) => import(`${sdk}/client/${module}.js`)

/** The SDK of 2024-11-05 has stdin alone. */
async function createTransport() {
  if (!target.startsWith('http')) {
    const { StdioClientTransport } = await load('stdio')
    return new StdioClientTransport({ command: process.execPath, args: JSON.parse(target) })
  }
  const { StreamableHTTPClientTransport } = await load('streamableHttp')
  return new StreamableHTTPClientTransport(new URL(target), { requestInit: { headers: JSON.parse(headers) } })
}

const { Client } = await load('index')
const transport = await createTransport()
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
