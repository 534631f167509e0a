import { quotaText, sizeText } from '../../sizes.ts'
import type { Usage } from '../../store/usage.ts'

/** Such as `4.2 GiB of 10 GiB are used`. */
export function usageText({ quota, used }: Usage): string {
  return quota === null
    ? `no quota; ${sizeText(used)} are used`
    : `${sizeText(used)} of ${quotaText(quota)} are used`
}
