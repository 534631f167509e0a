// Who must be let in, said a second time and simply: keys and tokens, their secrets, and until when each is good
// (decisions 1.6). It has its own arithmetic of days, so that a mistake in the program's is seen.

export type Kind = 'key' | 'token'

/** A key or a token. Without a last day, and without a company, it is for any. */
export type Holder = {
  kind: Kind
  id: number
  name: string
  lastDay: string | null
  revokedAt: number | null
  company: number | null
  allow: readonly string[]
}

/** One that was handed out; `endsAt` is when its overlap ends, in milliseconds since 1970. */
export type Secret = { of: Holder; text: string; endsAt: number }

export type SecretsModel = { holders: Holder[]; secrets: Secret[] }

const HOUR = 3_600_000

/** The day in Costa Rica, so many days later. */
export function dayAt(now: number, later = 0): string {
  return new Date(now - 6 * HOUR + later * 24 * HOUR).toISOString().slice(0, 10)
}

/** When a last day is over. */
export function endOf(lastDay: string | null): number {
  return lastDay === null ? Number.POSITIVE_INFINITY : Date.parse(`${lastDay}T06:00:00Z`) + 24 * HOUR
}

export function isLetIn({ of, endsAt }: Secret, now: number): boolean {
  return of.revokedAt === null && now < endsAt && now < endOf(of.lastDay)
}

/** Of an id, or of a name: the active one, else the one that was revoked last. */
export function holderOf({ holders }: SecretsModel, kind: Kind, word: string | number): Holder | undefined {
  const revoked = ({ revokedAt }: Holder) => revokedAt ?? Number.POSITIVE_INFINITY
  return holders
    .filter((one) => one.kind === kind && (typeof word === 'number' ? one.id : one.name) === word)
    .sort((one, other) => (revoked(one) < revoked(other) ? 1 : -1))[0]
}

/** Whether `create` would be carried out: a name is that of one active key, and of one active token. */
export function mayCreate(model: SecretsModel, kind: Kind, name: string): boolean {
  return holderOf(model, kind, name)?.revokedAt !== null
}

export function mayRotate(holder: Holder | undefined, lastDay: string | undefined, now: number): boolean {
  if (!holder || holder.revokedAt !== null) return false
  return now < endOf(holder.lastDay) || lastDay !== undefined
}

/** Gives a holder a new secret: each of before ends after the overlap, or sooner if it would have. */
export function rotated(
  model: SecretsModel,
  of: Holder,
  {
    text,
    overlap,
    lastDay,
    now,
  }: { text: string; overlap: number; lastDay: string | undefined; now: number },
): Secret {
  for (const secret of secretsOf(model, of)) {
    secret.endsAt = Math.min(secret.endsAt, now + overlap, endOf(of.lastDay))
  }
  of.lastDay = lastDay ?? of.lastDay
  const next = { of, text, endsAt: Number.POSITIVE_INFINITY }
  model.secrets.push(next)
  return next
}

export function secretsOf({ secrets }: SecretsModel, holder: Holder): Secret[] {
  return secrets.filter(({ of }) => of === holder)
}

/** When the former secrets that are still good end, as the lists show them. */
export function formerEnds(model: SecretsModel, holder: Holder, now: number): string[] {
  if (holder.revokedAt !== null) return []
  return secretsOf(model, holder)
    .map(({ endsAt }) => endsAt)
    .filter((endsAt) => endsAt > now && endsAt !== Number.POSITIVE_INFINITY)
    .sort((one, other) => one - other)
    .map((endsAt) => new Date(endsAt).toISOString())
}
