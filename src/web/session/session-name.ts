import type { SessionFacts } from '../api/session.ts'
import { visibleText } from '../model/visible.ts'

/** Name of the person, else of key and token. */
export function sessionName({ person, key, token }: Pick<SessionFacts, 'person' | 'key' | 'token'>): string {
  const names = [key?.name, token?.name].filter((name) => name !== undefined)
  return visibleText(person ?? [...new Set(names)].join(' + '))
}
