// A second, simple model of access: keys and tokens, their secrets and expiry (decisions#key-first). Its arithmetic of
// days is its own, so that an error in the program's is found.

export type Kind = 'key' | 'token'

/** A key or a token. Null as last day or company means unlimited. */
export type Holder = {
  kind: Kind
  id: number
  name: string
  lastDay: string | null
  revokedAt: number | null
  company: number | null
  allow: readonly string[]
}

/** An issued secret; `endsAt` is the end of its overlap in milliseconds since 1970. */
export type Secret = { holder: Holder; text: string; endsAt: number }

export type SecretsModel = { holders: Holder[]; secrets: Secret[] }

const HOUR = 3_600_000

/** The day in Costa Rica, `later` days after the instant. */
export function localDay(now: number, later = 0): string {
  return new Date(now - 6 * HOUR + later * 24 * HOUR).toISOString().slice(0, 10)
}

/** The instant after a last day, in milliseconds since 1970. */
export function dayEnd(lastDay: string | null): number {
  return lastDay === null ? Number.POSITIVE_INFINITY : Date.parse(`${lastDay}T06:00:00Z`) + 24 * HOUR
}

export function isAccepted({ holder, endsAt }: Secret, now: number): boolean {
  return holder.revokedAt === null && now < endsAt && now < dayEnd(holder.lastDay)
}

/** Finds by id or name: the active holder, else the one that was revoked last. */
export function findHolder({ holders }: SecretsModel, kind: Kind, word: string | number): Holder | undefined {
  const revoked = ({ revokedAt }: Holder) => revokedAt ?? Number.POSITIVE_INFINITY
  return holders
    .filter((one) => one.kind === kind && (typeof word === 'number' ? one.id : one.name) === word)
    .sort((one, other) => (revoked(one) < revoked(other) ? 1 : -1))[0]
}

/** True if `create` would succeed: a name belongs to one active key, and to one active token. */
export function mayCreate(model: SecretsModel, kind: Kind, name: string): boolean {
  return findHolder(model, kind, name)?.revokedAt !== null
}

export function mayRotate(holder: Holder | undefined, lastDay: string | undefined, now: number): boolean {
  if (!holder || holder.revokedAt !== null) return false
  return now < dayEnd(holder.lastDay) || lastDay !== undefined
}

/** Adds a new secret to a holder. The former ones end after the overlap, or at their own end if that is sooner. */
export function rotateHolder(
  model: SecretsModel,
  holder: Holder,
  {
    text,
    overlap,
    lastDay,
    now,
  }: { text: string; overlap: number; lastDay: string | undefined; now: number },
): Secret {
  for (const secret of holderSecrets(model, holder)) {
    secret.endsAt = Math.min(secret.endsAt, now + overlap, dayEnd(holder.lastDay))
  }
  holder.lastDay = lastDay ?? holder.lastDay
  const next = { holder, text, endsAt: Number.POSITIVE_INFINITY }
  model.secrets.push(next)
  return next
}

export function holderSecrets({ secrets }: SecretsModel, holder: Holder): Secret[] {
  return secrets.filter((secret) => secret.holder === holder)
}

/** Ends of the former secrets that are still valid, as the lists print them. */
export function formerSecretEnds(model: SecretsModel, holder: Holder, now: number): string[] {
  if (holder.revokedAt !== null) return []
  return holderSecrets(model, holder)
    .map(({ endsAt }) => endsAt)
    .filter((endsAt) => endsAt > now && endsAt !== Number.POSITIVE_INFINITY)
    .sort((one, other) => one - other)
    .map((endsAt) => new Date(endsAt).toISOString())
}
