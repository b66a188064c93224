import type { Clock } from "../../clock.ts";
import { signDelivery } from "../../contract/signature.ts";
import type { Deliveries } from "./deliveries.ts";
import type { Delivery } from "./forward.ts";
import type { OpenListener } from "./listener.ts";

interface Signer {
  readonly headerName: string;
  readonly clock: Clock;
}

/** The `resend` of a listener: the original signature would be too old for a handler. */
export const resender =
  (deliveries: Deliveries, secret: string, signer: Signer): OpenListener["resend"] =>
  (event, delivery) =>
    deliveries.resend(event, signedAgain(delivery, secret, signer));

/** A delivery with another signature, made now, in its last header. */
export function signedAgain(
  { rawHeaders, body }: Delivery,
  secret: string,
  { headerName, clock }: Signer,
): Delivery {
  const header = signDelivery(secret, body, Math.floor(clock.now() / 1000));
  const others = rawHeaders.filter(
    (_, at) => rawHeaders[at - (at % 2)]!.toLowerCase() !== headerName.toLowerCase(),
  );
  return { rawHeaders: [...others, headerName, header], body };
}
