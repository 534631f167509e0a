/** Normalizes a name for comparison: no accents, lower case, single spaces. */
export function plainName(name: string): string {
  return name.normalize('NFD').replace(/\p{M}/gu, '').replace(/\s+/g, ' ').trim().toLowerCase()
}
