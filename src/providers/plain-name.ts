/** A name as it is compared: without accents, in lower case, with single spaces. */
export function plainName(name: string): string {
  return name.normalize('NFD').replace(/\p{M}/gu, '').replace(/\s+/g, ' ').trim().toLowerCase()
}
