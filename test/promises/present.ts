// Lists names on which programs of others may rely, as lines of text.

import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { loadCommands } from '../../src/cli/commands.ts'
import { describeCommands } from '../../src/cli/help.ts'
import { createReadTools, createWorkTools } from '../../src/http/mcp/tools.ts'
import { ERROR_REASONS } from '../../src/runtime/errors.ts'
import { openShapes } from '../api/compat/support.ts'
import { type Document, type Operation, readAllPaths, type Schema } from '../api/openapi/description.ts'
import { send } from '../api/support.ts'
import { fillDirectory } from '../support/move/filled-directory.ts'
import { temporaryDirectory } from '../support/temporary.ts'
import { runCommand } from '../support/terminal.ts'

/** Lines of each section, sorted. */
export type Promises = Record<string, string[]>

type Described = Document & { webhooks?: Record<string, { post: Pick<Operation, 'requestBody'> }> }
type CommandTable = ReturnType<typeof describeCommands>['commands']

const ROOT = join(import.meta.dirname, '../..')
const NAMED = '#/components/schemas/'
const METHODS = ['get', 'post', 'put', 'patch', 'delete']
/** The name of an event, or both names of a condition. */
const EVENTS = [
  /\b(?:log|defects)(?:\.(?:debug|info|warn|error)|\[.+?\])\(\s*(?:[\w.]+ \? )?(['"])(.+?)\1(?: : (['"])(.+?)\3)?/g,
  /\b(?:warn\(|begin\(|logFailures\([\w.]+, |RUN_FINISHED = |absence: )(['"])(.+?)\1/g,
  /\b(?:events|EVENTS) = \{ leads: (['"])(.+?)\1, failed: (['"])(.+?)\3/g,
  /\bconst event =\s+(?:|[^?{]+?\? )(['"])(.+?)\1(?:\s+: (['"])(.+?)\3)?/g,
]

/** Collects what the present program has. */
export async function collectPromises(t: Pick<TestContext, 'after'>): Promise<Promises> {
  const { app, key } = await openShapes({ listen: { metrics: 'local' } })
  const read = async (path: string) => (await send(app.url + path, { headers: { 'X-API-Key': key } })).body
  const documents = [await read('/openapi.json'), await read('/openapi-compat.json')]
  const [own, shapes] = documents.map((text) => JSON.parse(text) as Described) as [Described, Described]
  const { commands } = describeCommands(await loadCommands())
  const sections: Promises = {
    endpoints: listOperations(await readAllPaths(app.url)),
    schemas: [...listSchemas(own), ...listSchemas(shapes)],
    commands: listCommands(commands),
    json: await listResults(t, commands),
    settings: commands.flatMap(({ options }) => options.flatMap(({ variable }) => variable ?? [])),
    metrics: listMetrics(await read('/metrics')),
    events: listEvents(),
    tools: listTools(),
    reasons: [...ERROR_REASONS],
    hooks: Object.entries(own.webhooks ?? {}).flatMap(([type, { post }]) =>
      listContents(post.requestBody).map((line) => `${type} ${line}`),
    ),
  }
  return Object.fromEntries(
    Object.entries(sections).map(([name, lines]) => [name, [...new Set(lines)].sort()]),
  )
}

/** `GET /path`, its parameters (`?name`, `!` if required), and its answers. */
function listOperations(document: Document): string[] {
  return Object.entries(document.paths).flatMap(([path, operations]) =>
    METHODS.flatMap((method) => {
      const operation = operations[method]
      if (!operation) return []
      const parameters = operation.parameters.map((one) => `?${one.name}${one.required ? '!' : ''}`)
      const answers = Object.entries(operation.responses).flatMap(([status, response]) => [
        status,
        ...(Number(status) < 300 ? listContents(response) : []).map((line) => `${status} ${line}`),
      ])
      const body = listContents(operation.requestBody).map((line) => `body ${line}`)
      const name = `${method.toUpperCase()} ${path}`
      return [name, ...[...parameters, ...body, ...answers].map((line) => `${name} ${line}`)]
    }),
  )
}

function listContents({ content = {} }: { content?: Record<string, { schema?: Schema }> } = {}): string[] {
  return Object.entries(content).flatMap(([type, { schema }]) =>
    schema && /json/.test(type) ? listFields(schema).map((field) => `${type} ${field}`) : type,
  )
}

/** Fields of the named schemas. */
function listSchemas({ components }: Document): string[] {
  return Object.entries(components.schemas).flatMap(([name, schema]) =>
    listFields(schema).map((line) => `${name} ${line}`),
  )
}

/** `field type`, with `?` behind the name of a field that may be missing. The type of a named schema is its name. */
function listFields(schema: Schema, name = ''): string[] {
  if (schema.$ref !== undefined) return [`${name} ${schema.$ref.replace(NAMED, '')}`.trim()]
  const choices = [...list(schema.anyOf), ...list(schema.oneOf), ...list(schema.allOf)]
  const nested = choices.flatMap((one) => listFields(one, name))
  const items = schema.items ? listFields(schema.items, `${name}[]`) : []
  const fields = Object.entries(schema.properties ?? {}).flatMap(([field, one]) => {
    const isRequired = schema.required?.includes(field)
    return listFields(one, `${name}.${field}${isRequired ? '' : '?'}`)
  })
  const isLeaf = nested.length + items.length + fields.length === 0
  return isLeaf && schema.type !== undefined
    ? [`${name} ${schema.type}`.trim()]
    : [...nested, ...items, ...fields]
}

function list(value: unknown): Schema[] {
  return Array.isArray(value) ? (value as Schema[]) : []
}

function listCommands(commands: CommandTable): string[] {
  return commands.flatMap(({ name, arguments: words, options }) => [
    name,
    ...(words.length > 0 ? [[name, ...words].join(' ')] : []),
    ...options.map((one) => {
      const flag = one.value === null ? one.flag : `${one.flag} ${one.value}`
      return `${name} ${flag}${one.required ? '!' : ''}${one.default === null ? '' : ` = ${one.default}`}`
    }),
  ])
}

/** Fields of the results of commands with `--json` that read a data directory. */
async function listResults(t: Pick<TestContext, 'after'>, commands: CommandTable): Promise<string[]> {
  const dataDir = temporaryDirectory(t)
  await fillDirectory(dataDir, { rates: 3, documents: 3 })
  const lines: string[] = []
  for (const { name, arguments: words, options, changes_data } of commands) {
    const flags = options.map(({ flag }) => flag)
    const isList = name.endsWith(' list') || name === 'version'
    if (!isList || changes_data || words.length > 0 || !flags.includes('--json')) continue
    const where = flags.includes('--data-dir') ? ['--data-dir', dataDir] : []
    const { code, out, err } = await runCommand([...name.split(' '), '--json', ...where])
    assert.equal(code, 0, `${name}: ${err}`)
    lines.push(...listValues(JSON.parse(out)).map((line) => `${name} ${line}`))
  }
  return lines
}

function listValues(value: unknown, name = ''): string[] {
  if (Array.isArray(value)) return value.flatMap((one) => listValues(one, `${name}[]`))
  if (typeof value === 'object' && value !== null)
    return Object.entries(value).flatMap(([field, one]) => listValues(one, `${name}.${field}`))
  return [name]
}

/** Tools of MCP with their arguments and results. */
function listTools(): string[] {
  const none: never = new Proxy({}, { get: () => none }) as never // only the definitions are read
  return [...createReadTools(none, none, none), ...createWorkTools(none)].flatMap(({ definition }) => {
    const { name, inputSchema, outputSchema } = definition
    const words = listFields(inputSchema as Schema).map((line) => `${name} ${line}`)
    return [name, ...words, ...listFields(outputSchema as Schema).map((line) => `${name} returns ${line}`)]
  })
}

/** Each metric with its type and the names of its labels. */
function listMetrics(text: string): string[] {
  const types = [...text.matchAll(/^# TYPE (\w+) (\w+)$/gm)].map(([, name, type]) => `${name} ${type}`)
  const labels = [...text.matchAll(/^(\w+)\{(.+)\} /gm)].flatMap(([, name, pairs = '']) =>
    [...pairs.matchAll(/(\w+)="/g)].map(([, label]) => `${name} {${label}}`),
  )
  return [...types, ...labels]
}

function listEvents(): string[] {
  return globSync('src/**/*.ts', { cwd: ROOT }).flatMap((file) =>
    EVENTS.flatMap((pattern) =>
      [...readFileSync(join(ROOT, file), 'utf8').matchAll(pattern)].flatMap(([, , one = '', , other]) =>
        other === undefined ? one : [one, other],
      ),
    ),
  )
}
