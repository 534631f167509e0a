import { todayIn } from '../../dates.ts'
import { needCompany } from '../../domain/directory/directory.ts'
import { rotateToken } from '../../domain/rotation.ts'
import { hashOfSecret, makeSecret } from '../../domain/secrets.ts'
import { AppError } from '../../errors.ts'
import { quotaText, sizeText } from '../../sizes.ts'
import { findAgent } from '../../store/directory/agents.ts'
import { lockForUpdate } from '../../store/directory/lock.ts'
import { atomically } from '../../store/engine.ts'
import { selectFormerSecrets } from '../../store/secrets/former-secrets.ts'
import type { Db } from '../../store/tables.ts'
import {
  findActiveTokenByName,
  findToken,
  findTokenByName,
  hasTokenHash,
  insertToken,
  revokeToken,
  selectTokens,
  type TokenRow,
  updateTokenQuota,
} from '../../store/tokens.ts'
import { findTokenUsage } from '../../store/usage.ts'
import { command, printResult, table } from '../command.ts'
import { PLACE } from '../place/options.ts'
import { parseName, parseNameOrId } from './positionals.ts'
import { usageText } from './quota.ts'
import { formerLine, lastDayOf, needSecret, ROTATION, stateOf, taken, withFormer } from './secret.ts'

export const tokenCreate = command({
  name: 'token create',
  positionals: ['NAME'],
  summary: 'make a token of the documents API; it is shown this once',
  about: `With --company the token is for the agents and documents of that company alone: to it the others are not
there. That is how several companies share one server. With --agent it is for the documents of that agent alone, as its
workers should have it: documents:CLAIM lets them claim and finish documents, documents:GET read them. With --quota an upload is refused with 507 when the documents that
tokens of this name made would have more than that together: one that was revoked and made again does not begin anew.`,
  options: ['allow', 'company', 'agent', 'expires', 'quota', ...PLACE, 'json'],
  required: ['allow'],
  changesData: true,
  example: 'cambista token create erp --allow documents:POST --allow agent:POST --expires 2027-12-31',
  run({ options, positionals, terminal, withDatabase }) {
    const name = parseName(positionals[0])
    const allow = [...new Set(options.allow)]
    const expires_at = lastDayOf(options.expires) ?? null
    const agent_id = options.agent ?? null
    const quota = options.quota ?? null
    const mustExist = options.company !== undefined || agent_id !== null
    return withDatabase({ mustExist }, async (db, { clock }) => {
      const token = makeSecret('cbt_')
      const hash = hashOfSecret(token)
      const insert = async (trx: Db) => {
        const twin = await findActiveTokenByName(trx, name)
        if (twin) throw taken('token', twin)
        if (options.company !== undefined) await needCompany(trx, options.company)
        const company_id = await companyOf(trx, options.company, agent_id)
        const id = await insertToken(trx, {
          name,
          hash,
          allow,
          companyId: company_id,
          agentId: agent_id,
          expiresAt: expires_at,
          quota,
          createdAt: clock().toISOString(),
        })
        return { id, company_id }
      }
      const isThere = (trx: Db) => hasTokenHash(trx, hash)
      const { id, company_id } = await atomically(db, insert, { isThere })
      terminal.err(
        `Token ${id} (${name}), shown only now. Send it in the header Authorization: Bearer TOKEN\n`,
      )
      printResult(terminal, options, { id, name, token, allow, company_id, agent_id, expires_at, quota }, [
        token,
      ])
      return 0
    })
  },
})

/** A token of an agent is one of its company too. @throws AppError for an agent that is not there, or of another one */
async function companyOf(
  db: Db,
  company: number | undefined,
  agentId: number | null,
): Promise<number | null> {
  if (agentId === null) return company ?? null
  await lockForUpdate(db, 'agents', [agentId]) // it moves to no other company meanwhile
  const agent = await findAgent(db, agentId)
  if (!agent) throw new AppError('not-found', `there is no agent ${agentId}: see cambista agent list`)
  if (company === undefined || company === agent.company_id) return agent.company_id
  throw new AppError('usage', `agent ${agentId} is of company ${agent.company_id}, not of ${company}`)
}

export const tokenUpdate = command({
  name: 'token update',
  positionals: ['NAME'],
  summary: 'set how much the documents that a token makes may have together',
  options: ['quota', ...PLACE, 'json'],
  required: ['quota'],
  changesData: true,
  example: 'cambista token update erp --quota 20GiB',
  run({ options, positionals, terminal, withDatabase }) {
    const { quota } = options
    const name = parseName(positionals[0])
    return withDatabase({ mustExist: true }, async (db) => {
      const [token] = await updateTokenQuota(db, name, quota)
      if (!token) throw new AppError('not-found', `there is no active token ${name}: see cambista token list`)
      const used = (await findTokenUsage(db, token.id))?.used ?? 0
      printResult(terminal, options, { ...token, used }, [`token ${name}: ${usageText({ quota, used })}`])
      return 0
    })
  },
})

export const tokenList = command({
  name: 'token list',
  positionals: [],
  summary: 'list the tokens, without their secrets',
  options: [...PLACE, 'json'],
  changesData: false,
  example: 'cambista token list',
  run({ options, terminal, withDatabase }) {
    return withDatabase({ mustExist: true }, async (db, { clock }) => {
      const now = clock()
      const former = await selectFormerSecrets(db, now.toISOString())
      const tokens = (await selectTokens(db)).map((token) => withFormer(token, former.tokens))
      const today = todayIn(() => now)
      const rows = tokens.map((token) => [
        String(token.id),
        token.name,
        token.allow.join(' '),
        token.company_id === null ? 'any' : String(token.company_id),
        token.agent_id === null ? 'any' : String(token.agent_id),
        token.created_at,
        sizeText(token.used),
        quotaText(token.quota),
        token.last_used_at ?? 'never',
        stateOf(token, today, token.former),
      ])
      const head = [
        'ID',
        'NAME',
        'ALLOW',
        'COMPANY',
        'AGENT',
        'CREATED',
        'DOCUMENTS',
        'QUOTA',
        'LAST USED',
        'STATE',
      ]
      printResult(terminal, options, tokens, table([head, ...rows]))
      return 0
    })
  },
})

export const tokenRotate = command({
  name: 'token rotate',
  positionals: ['NAME|ID'],
  summary: 'give a token a new secret, shown this once; the one before goes on for a while',
  about: ROTATION,
  options: ['overlap', 'expires', ...PLACE, 'json'],
  changesData: true,
  example: 'cambista token rotate erp --overlap 7d',
  run({ options, positionals, terminal, withDatabase }) {
    const word = parseNameOrId(positionals[0])
    const overlapMs = options.overlap
    const expiresAt = lastDayOf(options.expires)
    return withDatabase({ mustExist: true }, async (db, { clock }) => {
      const token = makeSecret('cbt_')
      const now = clock()
      const rotation = { hash: hashOfSecret(token), overlapMs, expiresAt, now }
      const rotate = async (trx: Db) => {
        const row = needSecret('token', word, await findOne(trx, word))
        return { row, rotated: await rotateToken(trx, row, rotation) }
      }
      const isThere = (trx: Db) => hasTokenHash(trx, rotation.hash)
      const { row, rotated } = await atomically(db, rotate, { isThere })
      const { id, name } = row
      const header = 'Authorization: Bearer TOKEN'
      const former = formerLine('token', rotated.formerEndsAt, now)
      terminal.err(
        `Token ${id} (${name}) has a new secret, shown only now. Send it in the header ${header}.\n${former}\n`,
      )
      const document = {
        id,
        name,
        token,
        expires_at: rotated.expiresAt,
        former_ends_at: rotated.formerEndsAt,
      }
      printResult(terminal, options, document, [token])
      return 0
    })
  },
})

export const tokenRevoke = command({
  name: 'token revoke',
  positionals: ['NAME|ID'],
  summary: 'revoke a token; a running server refuses it within a second',
  options: [...PLACE, 'json'],
  changesData: true,
  example: 'cambista token revoke erp',
  run({ options, positionals, terminal, withDatabase }) {
    const word = parseNameOrId(positionals[0])
    return withDatabase({ mustExist: true }, async (db, { clock }) => {
      const { id } = needSecret('token', word, await findOne(db, word))
      const token = needSecret('token', word, await revokeToken(db, id, clock().toISOString()))
      printResult(terminal, options, token, [`token ${id} (${token.name}) is revoked`])
      return 0
    })
  },
})

/** The token of an id, or the active one of a name, else the newest of that name that is revoked. */
function findOne(db: Db, word: string | number): Promise<TokenRow | undefined> {
  return typeof word === 'number' ? findToken(db, word) : findTokenByName(db, word)
}
