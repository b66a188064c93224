import { useEffect, useRef, useState } from "preact/hooks";
import type { ProductCard, ProductDetail, ProductPage } from "../data.ts";
import { call } from "./api.ts";
import { accountName, Empty, Picture, type Run } from "./parts.tsx";

/** Pause between a change and the next read of the list, and the longest wait while changes keep coming. */
const pauseMs = 300;
const longestPauseMs = 1_000;

/** The products, newest first, page by page. */
export function ProductsTab({
  revision,
  hasSecretKeys,
  run,
}: {
  revision: number;
  hasSecretKeys: boolean;
  run: Run;
}) {
  const [organization, setOrganization] = useState("main");
  const [search, setSearch] = useState("");
  /** The cursors of the pages up to this one; the first page has none. */
  const [cursors, setCursors] = useState<readonly (string | null)[]>([null]);
  const [page, setPage] = useState<ProductPage | null>(null);
  const [shown, setShown] = useState<string | null>(null);
  const cursor = cursors.at(-1) ?? null;
  const readAt = useRef(0);

  // A change of a product reads the list again.
  useEffect(() => {
    let isWanted = true;
    const read = () => {
      readAt.current = Date.now();
      const query = new URLSearchParams({ organization, q: search, ...(cursor !== null && { cursor }) });
      call<ProductPage>("GET", `_mock/page/products?${query}`).then(
        (found) => {
          if (!isWanted) return;
          if (found.data.length === 0 && cursor !== null) setCursors([null]);
          else setPage(found);
        },
        // A reset made the cursor of another list invalid.
        () => isWanted && cursor !== null && setCursors([null]),
      );
    };
    const timer = setTimeout(read, Date.now() - readAt.current > longestPauseMs ? 0 : pauseMs);
    return () => {
      isWanted = false;
      clearTimeout(timer);
    };
  }, [organization, search, cursor, revision]);
  const restart = () => setCursors([null]);
  return (
    <>
      <search class="tools">
        <input
          type="search"
          aria-label="Search products"
          placeholder="Search: words of name or reference"
          aria-keyshortcuts="/"
          spellcheck={false}
          autocomplete="off"
          value={search}
          onInput={({ currentTarget }) => {
            setSearch(currentTarget.value);
            restart();
          }}
        />
        <select
          aria-label="Organization"
          value={organization}
          onChange={({ currentTarget }) => {
            setOrganization(currentTarget.value);
            restart();
          }}
        >
          {["main", "other"].map((name) => (
            <option key={name} value={name}>
              {accountName(name, hasSecretKeys)}
            </option>
          ))}
        </select>
        <button
          type="button"
          disabled={cursors.length === 1}
          onClick={() => setCursors(cursors.slice(0, -1))}
        >
          Previous
        </button>
        <span class="place">Page {cursors.length}</span>
        <button
          type="button"
          disabled={page?.next_cursor == null}
          onClick={() => setCursors([...cursors, page!.next_cursor])}
        >
          Next
        </button>
      </search>
      <div class="scroll">
        {page !== null && page.data.length === 0 && (
          <Empty title={search === "" ? "No products yet." : "No product matches."}>
            {search === "" && <pre>cat import products.csv</pre>}
          </Empty>
        )}
        <ul class="cards">
          {page?.data.map((product) => (
            <li key={product.id}>
              <Card product={product} onShow={() => setShown(product.id)} />
            </li>
          ))}
        </ul>
      </div>
      {shown !== null && <ProductDialog id={shown} run={run} onClose={() => setShown(null)} />}
    </>
  );
}

function Card({ product, onShow }: { product: ProductCard; onShow: () => void }) {
  const { reference, name, images } = product;
  return (
    <button type="button" class="card" onClick={onShow}>
      <Picture id={images[0]?.id ?? null} label="" />
      <span class="mono">{reference ?? "no reference"}</span>
      <span class="name">{name}</span>
      {images.length > 1 && <span class="more">{images.length} photos</span>}
    </button>
  );
}

function ProductDialog({ id, run, onClose }: { id: string; run: Run; onClose: () => void }) {
  const [product, setProduct] = useState<ProductDetail | null>(null);
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    dialog.current?.showModal();
    run(async () => {
      const found = await call<ProductDetail>("GET", `_mock/page/products/${encodeURIComponent(id)}`);
      setProduct(found);
      return "";
    });
  }, [id, run]);
  return (
    <dialog ref={dialog} onClose={onClose} aria-label="Product" class="wide">
      <div class="bar">
        <h2>{product?.reference ?? "Product"}</h2>
        <button type="button" class="small" onClick={() => dialog.current?.close()}>
          Close
        </button>
      </div>
      {product !== null && (
        <>
          <p>
            {product.name}
            {product.sex !== null && ` · ${product.sex}`}
          </p>
          {product.description !== null && <p class="hint">{product.description}</p>}
          <dl class="headers">
            <div>
              <dt>id</dt>
              <dd>{product.id}</dd>
            </div>
            <div>
              <dt>created_at</dt>
              <dd>{product.created_at}</dd>
            </div>
            <div>
              <dt>updated_at</dt>
              <dd>{product.updated_at}</dd>
            </div>
          </dl>
          <ul class="cards">
            {product.images.map((image) => (
              <li key={image.id}>
                <Picture id={image.id} label={image.orientation} />
                <span>{image.orientation}</span>
                <span class="hint">{image.origin}</span>
              </li>
            ))}
            {product.generations.map((image) => (
              <li key={image.id}>
                <Picture id={image.id} label={image.angle_shot} />
                <span>{image.angle_shot}</span>
                <span class="hint">
                  {image.role}, {image.background}
                </span>
              </li>
            ))}
          </ul>
        </>
      )}
    </dialog>
  );
}
