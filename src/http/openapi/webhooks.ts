// OpenAPI of the messages to hooks: headers, bodies and the expected answer (decisions#hooks). The test
// test/api/openapi/webhooks.test.ts compares the examples with received messages.

import * as v from 'valibot'
import { MAX_TRIES } from '../../domain/hooks/attempts.ts'
import { ATTEMPT_MS } from '../../domain/hooks/post.ts'
import { type HookEvent, MAX_IDS, messageBody } from '../../domain/hooks/queued-events.ts'
import { signatureHeader } from '../../domain/hooks/seal.ts'
import { Day, Instant, Integer, titledObject, withDescription } from '../endpoint/answers/shapes.ts'
import type { Tag } from '../endpoint/endpoint.ts'
import messages from './messages.json' with { type: 'json' }
import type { JsonSchema, Schemas } from './schemas.ts'

type Webhook = { summary: string; about: string; tag: Tag; data: v.GenericSchema }

const EXAMPLE_ID = 'msg_6Hd0R2dzXy0mZ1hP5rJ8kq3TtVwYbNcA'
const EXAMPLE_SECRET = `whsec_${Buffer.from('an example of a secret: 32 bytes').toString('base64')}`

const Party = {
  company_id: Integer,
  agent_id: Integer,
  document_ids: v.pipe(v.array(Integer), v.minLength(1), v.maxLength(MAX_IDS)),
}
const Outcome = v.object({
  ...Party,
  has_result: v.optional(
    withDescription(v.literal(true), 'A worker returned a result: /api/v1/documents/{id}/result has it'),
  ),
})
const Run = { provider: v.string(), run_id: withDescription(Integer, 'Its id in /api/v1/sync/runs') }

const WEBHOOKS: Readonly<Record<HookEvent | 'test', Webhook>> = {
  'document.created': {
    summary: 'Documents were created',
    about:
      'An upload is stored. A hook of one company or agent receives only its uploads. ' +
      `A larger upload is several messages of at most ${MAX_IDS} ids.`,
    tag: 'Documents',
    data: v.object(Party),
  },
  'document.finished': {
    summary: 'Documents were finished',
    about: 'A worker has reported the outcome `done`.',
    tag: 'Documents',
    data: Outcome,
  },
  'document.failed': {
    summary: 'Documents have failed',
    about: 'A worker has reported the outcome `failed`, or the server has given documents up.',
    tag: 'Documents',
    data: Outcome,
  },
  'rates.published': {
    summary: 'Rates were published',
    about: 'A sync or an import has completed days: both sides of the dollar are stored.',
    tag: 'Rates',
    data: v.object({
      ...Run,
      from: withDescription(Day, 'The first completed day'),
      to: withDescription(Day, 'The last completed day'),
      days: withDescription(v.array(Day), 'The newest 500 completed days, oldest first'),
    }),
  },
  'rates.corrected': {
    summary: 'Rates were corrected',
    about: 'A sync has stored other values for known days. `/api/v1/revisions` has both values of each.',
    tag: 'History',
    data: v.object({
      ...Run,
      count: withDescription(Integer, 'Number of all corrections'),
      corrections: withDescription(
        v.array(
          v.object({
            id: withDescription(Integer, 'Its id in /api/v1/revisions'),
            series_id: Integer,
            rate_date: Day,
          }),
        ),
        'The newest 500 corrections, oldest first',
      ),
    }),
  },
  'sync.failed': {
    summary: 'A sync has failed',
    about: 'A sync has ended as `error`: once per outage, and once more on each further day of it.',
    tag: 'Server',
    data: v.object({
      ...Run,
      trigger: v.picklist(['scheduler', 'startup', 'retry', 'cli', 'refine']),
      started_at: Instant,
    }),
  },
  'mail.failed': {
    summary: 'A mailbox fails',
    about: 'No round of a mailbox succeeds: once per failure, and once more on each further day of it.',
    tag: 'Server',
    data: v.object({
      mailbox_id: Integer,
      failure: withDescription(v.string(), 'A sentence of this program'),
    }),
  },
  test: {
    summary: 'Test message',
    about: 'The operator has run `cambista hook test`.',
    tag: 'Server',
    data: v.object({ hook_id: Integer }),
  },
}

/** Creates the OpenAPI webhooks, by type of message. */
export function createWebhooks(schemas: Schemas): Record<string, JsonSchema> {
  return Object.fromEntries(
    Object.entries(WEBHOOKS).map(([type, webhook]) => [
      type,
      { post: createWebhook(type, webhook, schemas) },
    ]),
  )
}

function createWebhook(type: string, { summary, about, tag, data }: Webhook, schemas: Schemas): JsonSchema {
  const example = messages[type as keyof typeof messages]
  return {
    operationId: `webhook_${type.replace('.', '_')}`,
    summary,
    description: about,
    tags: [tag],
    security: [],
    parameters: headerParameters(example),
    requestBody: {
      description: 'The signed message: verify the bytes as received, before they are parsed.',
      required: true,
      content: { 'application/json': { schema: schemas.of(messageSchema(type, data)), example } },
    },
    responses: {
      '2XX': { description: `Confirms the message. Answer within ${ATTEMPT_MS / 1000} seconds.` },
      410: { description: 'Turns the hook off, and drops its messages.' },
      default: {
        description:
          'Any other answer, a redirect too, is a failure. The server sends the message again: at most ' +
          `${MAX_TRIES} attempts within a day, each with the same webhook-id.`,
      },
    },
  }
}

/** Headers of Standard Webhooks, with the signature of the example. */
function headerParameters(example: { type: string; timestamp: string; data: Record<string, unknown> }) {
  const seconds = Date.parse(example.timestamp) / 1000
  const body = messageBody(example.type, example.timestamp, example.data)
  const signature = signatureHeader([EXAMPLE_SECRET], { id: EXAMPLE_ID, seconds, body })
  return [
    header('webhook-id', 'Id of the message, the same in each attempt', { type: 'string' }, EXAMPLE_ID),
    header('webhook-timestamp', 'Time of the attempt, in seconds since 1970', { type: 'integer' }, seconds),
    header(
      'webhook-signature',
      'Signatures, separated by spaces: v1, and the HMAC-SHA256 of webhook-id.webhook-timestamp.body in base64. The ' +
        `key is the secret after whsec_, decoded from base64; of the example ${EXAMPLE_SECRET}`,
      { type: 'string' },
      signature,
    ),
  ]
}

function header(name: string, description: string, schema: JsonSchema, example: unknown): JsonSchema {
  return { name, in: 'header', required: true, description, schema, example }
}

/** Schema of a message, such as `DocumentCreatedMessage` of `document.created`. */
function messageSchema(type: string, data: v.GenericSchema): v.GenericSchema {
  const title = type.replace(/(?:^|\.)(\w)/g, (_, first) => first.toUpperCase())
  const timestamp = withDescription(Instant, 'Instant of the event')
  return titledObject(`${title}Message`, { type: v.literal(type), timestamp, data })
}
