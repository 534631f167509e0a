import { todayIn } from '../dates.ts'
import { needCompany } from '../domain/directory.ts'
import { ALLOWED, hashOfSecret, makeSecret } from '../domain/secrets.ts'
import { AppError } from '../errors.ts'
import {
  findActiveTokenByName,
  insertToken,
  revokeToken,
  selectTokens,
  type TokenRow,
} from '../store/tokens.ts'
import { type Command, printResult, table } from './command.ts'
import { withDatabase } from './data-dir.ts'
import { idOf, nameOf } from './words.ts'

export const tokenCreate: Command = {
  name: 'token create',
  takes: ['NAME'],
  summary: 'make a token of the documents API; it is shown this once',
  about: `With --company the token is for the agents and documents of that company alone: to it the others are not
there. That is how several companies share one server.`,
  options: ['allow', 'company', 'expires', 'data-dir', 'json'],
  needs: ['allow'],
  example: 'cambista token create erp --allow documents:POST --allow agent:POST --expires 2027-12-31',
  run({ values, words, terminal }) {
    const name = nameOf(words[0])
    const allow = values.all('allow')
    if (allow.length === 0) {
      throw new AppError('usage', `--allow is missing: give one or more of ${ALLOWED.join(', ')}`)
    }
    const expires_at = values.given('expires') ?? null
    const company_id = values.givenNumber('company') ?? null
    const today = todayIn(() => new Date())
    if (expires_at !== null && expires_at < today) {
      throw new AppError('usage', `--expires ${expires_at} is past: today in Costa Rica is ${today}`)
    }
    return withDatabase(values, { mustExist: company_id !== null }, async (db) => {
      const token = makeSecret('cbt_')
      const id = await db.transaction().execute(async (trx) => {
        const twin = await findActiveTokenByName(trx, name)
        if (twin) {
          const advice = 'revoke it or choose another name'
          throw new AppError('conflict', `token ${twin.id} is named ${name} already: ${advice}`)
        }
        if (company_id !== null) await needCompany(trx, company_id)
        return insertToken(trx, {
          name,
          hash: hashOfSecret(token),
          allow,
          companyId: company_id,
          expiresAt: expires_at,
          createdAt: new Date().toISOString(),
        })
      })
      terminal.err(
        `Token ${id} (${name}), shown only now. Send it in the header Authorization: Bearer TOKEN\n`,
      )
      printResult(terminal, values, { id, name, token, allow, company_id, expires_at }, [token])
      return 0
    })
  },
}

export const tokenList: Command = {
  name: 'token list',
  takes: [],
  summary: 'list the tokens, without their secrets',
  options: ['data-dir', 'json'],
  example: 'cambista token list',
  run({ values, terminal }) {
    return withDatabase(values, { mustExist: true }, async (db) => {
      const tokens = await selectTokens(db)
      const today = todayIn(() => new Date())
      const rows = tokens.map((token) => [
        String(token.id),
        token.name,
        token.allow.join(' '),
        token.company_id === null ? 'any' : String(token.company_id),
        token.created_at,
        token.last_used_at ?? 'never',
        stateOf(token, today),
      ])
      const head = ['ID', 'NAME', 'ALLOW', 'COMPANY', 'CREATED', 'LAST USED', 'STATE']
      printResult(terminal, values, tokens, table([head, ...rows]))
      return 0
    })
  },
}

export const tokenRevoke: Command = {
  name: 'token revoke',
  takes: ['ID'],
  summary: 'revoke a token; a running server refuses it within a second',
  options: ['data-dir', 'json'],
  example: 'cambista token revoke 3',
  run({ values, words, terminal }) {
    const id = idOf(words[0])
    return withDatabase(values, { mustExist: true }, async (db) => {
      const token = await revokeToken(db, id, new Date().toISOString())
      if (!token) throw new AppError('not-found', `there is no token ${id}: see cambista token list`)
      printResult(terminal, values, token, [`token ${id} (${token.name}) is revoked`])
      return 0
    })
  },
}

function stateOf({ revoked_at, expires_at }: TokenRow, today: string): string {
  if (revoked_at !== null) return `revoked ${revoked_at}`
  if (expires_at === null) return 'active'
  return expires_at < today ? `expired ${expires_at}` : `active through ${expires_at}`
}
