// Webhooks of the description, compared with the messages that a hook receives.

import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import { HOOK_EVENTS } from '../../../src/domain/hooks/queued-events.ts'
import { openApp, send } from '../support.ts'
import { type Document, type Operation, readDescription, type Schema } from './description.ts'
import { collectMessages, shownMessages } from './messages.ts'

type Webhook = Omit<Operation, 'parameters' | 'requestBody'> & {
  parameters: { name: string; in: string; required: boolean; example: unknown }[]
  requestBody: { content: Record<string, { schema: Schema; example: unknown }> }
}
type Body = { type: string; timestamp: string; data: Record<string, unknown> }

const { app } = await openApp()
const document = JSON.parse((await send(`${app.url}/openapi.json`)).body) as Document & {
  webhooks: Record<string, { post: Webhook }>
}
const { compileSchema, resolveSchema } = readDescription(document)
const webhooks = Object.entries(document.webhooks).map(([type, { post }]) => [type, post] as const)
const collected = await collectMessages()

test('the description has a webhook for each event of hooks, and for test messages', () => {
  assert.deepEqual(webhooks.map(([type]) => type).sort(), [...HOOK_EVENTS, 'test'].sort())
})

test('the examples of the webhooks are the bodies that a hook receives', () => {
  const examples = Object.fromEntries(webhooks.map(([type, webhook]) => [type, readBody(webhook).example]))
  assert.deepEqual(examples, shownMessages(collected), 'run node test/api/openapi/examples.ts')
})

test('each message matches its named schema, which describes all of its fields', () => {
  for (const [type, webhook] of webhooks) {
    const { schema } = readBody(webhook)
    assert.match(schema.$ref ?? '', /^#\/components\/schemas\/\w+Message$/)
    const message = collected.messages.get(type)?.body as Body
    const check = compileSchema(schema)
    assert.ok(check(message), `${type}: ${JSON.stringify(check.errors)}`)
    assert.ok(!check({ ...message, type: 'other' }) && !check({ ...message, data: {} }), type)
    const { properties } = resolveSchema(schema)
    assert.deepEqual(Object.keys(properties ?? {}), ['type', 'timestamp', 'data'])
    const fields = Object.keys(properties?.data?.properties ?? {})
    const unknown = Object.keys(message.data).filter((name) => !fields.includes(name))
    assert.deepEqual(unknown, [], type)
  }
})

test('the header parameters of a webhook are the headers of its message', () => {
  for (const [type, { parameters }] of webhooks) {
    const { headers = {} } = collected.messages.get(type) ?? {}
    const names = Object.keys(headers).filter((name) => name.startsWith('webhook-'))
    assert.deepEqual(parameters.map(({ name }) => name).sort(), names.sort(), type)
    for (const one of parameters) assert.ok(one.in === 'header' && one.required, type)
  }
})

test('the described signature signs messages and examples', () => {
  for (const [type, webhook] of webhooks) {
    const { headers = {}, text = '' } = collected.messages.get(type) ?? {}
    assert.equal(headers['webhook-signature'], sign(collected.secret, headers, text), type)
    const examples = Object.fromEntries(webhook.parameters.map(({ name, example }) => [name, example]))
    const description = JSON.stringify(webhook.parameters)
    const [secret = ''] = /whsec_[\w+/]{20,}=*/.exec(description) ?? []
    const body = JSON.stringify(readBody(webhook).example)
    assert.equal(examples['webhook-signature'], sign(secret, examples, body), type)
  }
})

test('a webhook has no credentials, and describes the answers that the delivery distinguishes', () => {
  for (const [type, { security, responses, tags }] of webhooks) {
    assert.deepEqual(security, [], type)
    assert.deepEqual(Object.keys(responses).sort(), ['2XX', '410', 'default'], type)
    assert.match(responses['2XX']?.description ?? '', /within 10 seconds/)
    assert.match(responses.default?.description ?? '', /at most 8 attempts/)
    assert.equal(tags.length, 1)
  }
})

function readBody({ requestBody: { content } }: Webhook): { schema: Schema; example: unknown } {
  return content['application/json'] ?? assert.fail('a webhook has no JSON body')
}

/** Signature of Standard Webhooks. */
function sign(secret: string, headers: Record<string, unknown>, body: string): string {
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64')
  const text = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`
  return `v1,${createHmac('sha256', key).update(text).digest('base64')}`
}
