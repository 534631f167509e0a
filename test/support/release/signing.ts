// src/packaging/sign.mjs with its types, for tests that make keys and signatures of their own.

import type { KeyObject } from 'node:crypto'

export type SecretKey = { id: Uint8Array; key: KeyObject; publicKey: string }

type Signing = {
  makeKeyPair(): { secretKey: string; publicKey: string }
  readSecretKey(text: string, password?: string): SecretKey
  signContent(key: SecretKey, content: Uint8Array, comment: string): string
}

const MODULE: string = new URL('../../../src/packaging/sign.mjs', import.meta.url).href
export const { makeKeyPair, readSecretKey, signContent }: Signing = await import(MODULE)
