import { rotateToken } from '../../../domain/access/rotation.ts'
import { hashOfSecret, makeSecret } from '../../../domain/access/secrets.ts'
import { requireAgent, requireCompany } from '../../../domain/directory/directory.ts'
import { AppError } from '../../../runtime/errors.ts'
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
} from '../../../store/access/tokens.ts'
import { lockForUpdate } from '../../../store/directory/parties.ts'
import { findTokenUsage } from '../../../store/documents/usage.ts'
import type { WriteDb } from '../../../store/tables.ts'
import { currentDay } from '../../../values/dates.ts'
import { quotaText, sizeText } from '../../../values/sizes.ts'
import { command, printResult } from '../../command.ts'
import { STORAGE } from '../../options/storage.ts'
import { parseName } from '../positionals.ts'
import { changeRow, listCommand, usageText } from '../rows.ts'
import {
  addFormer,
  insertSecret,
  parseExpiryDay,
  revokeCommand,
  rotateCommand,
  type SecretKind,
  secretState,
} from './secret.ts'

const TOKENS: SecretKind<TokenRow> = {
  noun: 'token',
  prefix: 'cbt_',
  header: 'Authorization: Bearer TOKEN',
  findById: findToken,
  findByName: findTokenByName,
  findActive: findActiveTokenByName,
  hasHash: hasTokenHash,
  rotate: rotateToken,
  revoke: revokeToken,
}

export const tokenCreate = command({
  name: 'token create',
  positionals: ['NAME'],
  options: ['allow', 'company', 'agent', 'expires', 'quota', ...STORAGE, 'json'],
  required: ['allow'],
  changesData: true,
  run({ options, positionals, terminal, withDatabase }) {
    const name = parseName(positionals[0])
    const allow = [...new Set(options.allow)]
    const expires_at = parseExpiryDay(options.expires) ?? null
    const agent_id = options.agent ?? null
    const quota = options.quota ?? null
    const mustExist = options.company !== undefined || agent_id !== null
    return withDatabase({ mustExist }, async (db, { clock }) => {
      const token = makeSecret('cbt_')
      const hash = hashOfSecret(token)
      const { id, company_id } = await insertSecret(db, TOKENS, { name, hash }, async (trx) => {
        if (options.company !== undefined) await requireCompany(trx, options.company)
        const companyId = await tokenCompany(trx, options.company, agent_id)
        const limits = { companyId, agentId: agent_id, expiresAt: expires_at, quota }
        const now = clock().toISOString()
        return {
          id: await insertToken(trx, { name, hash, allow, ...limits, createdAt: now }),
          company_id: companyId,
        }
      })
      terminal.err(
        `Token ${id} (${name}), shown only now. Send it in the header Authorization: Bearer TOKEN\n`,
      )
      printResult(terminal, options, { id, name, token, allow, company_id, agent_id, expires_at, quota }, [
        token,
      ])
    })
  },
})

/**
 * Returns the company of a token; that of the agent, if it has one.
 * @throws AppError `not-found` for a missing agent, `usage` for an agent of another company
 */
async function tokenCompany(
  db: WriteDb,
  company: number | undefined,
  agentId: number | null,
): Promise<number | null> {
  if (agentId === null) return company ?? null
  await lockForUpdate(db, 'agents', [agentId]) // no other transaction may move it to another company
  const agent = await requireAgent(db, agentId)
  if (company === undefined || company === agent.company_id) return agent.company_id
  throw new AppError('usage', `agent ${agentId} is of company ${agent.company_id}, not of ${company}`)
}

export const tokenUpdate = command({
  name: 'token update',
  positionals: ['NAME'],
  options: ['quota', ...STORAGE, 'json'],
  required: ['quota'],
  changesData: true,
  run: (input) =>
    changeRow(
      input,
      { noun: 'active token', parse: parseName },
      async (db, name) => {
        const [token] = await updateTokenQuota(db, name, input.options.quota)
        return token && { ...token, used: (await findTokenUsage(db, token.id))?.used ?? 0 }
      },
      (token) => `token ${token.name}: ${usageText(token)}`,
    ),
})

export const tokenList = listCommand({
  name: 'token list',
  select: async (db, engine) => addFormer(db, engine, 'tokens', await selectTokens(db)),
  columns: ({ clock }) => ({
    ID: 'id',
    NAME: 'name',
    ALLOW: ({ allow }) => allow.join(' '),
    COMPANY: ({ company_id }) => company_id ?? 'any',
    AGENT: ({ agent_id }) => agent_id ?? 'any',
    CREATED: 'created_at',
    DOCUMENTS: ({ used }) => sizeText(used),
    QUOTA: ({ quota }) => quotaText(quota),
    'LAST USED': ({ last_used_at }) => last_used_at ?? 'never',
    STATE: (token) => secretState(token, currentDay(clock), token.former),
  }),
})

export const tokenRotate = rotateCommand(TOKENS)
export const tokenRevoke = revokeCommand(TOKENS)
