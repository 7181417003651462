// The whole service over a folder, without HTTP.
import { localPrincipal } from "../src/access.ts";
import { readCalibration } from "../src/calibration.ts";
import { loadConfig } from "../src/config.ts";
import { VIEW_TEMPLATE } from "../src/discovery.ts";
import { findModel, startEmbedder } from "../src/embedder.ts";
import { createService } from "../src/service.ts";
import { openStore } from "../src/store.ts";

/** Started with what the store in the folder holds. */
export async function openService(folder: string) {
  const config = loadConfig("shortlist.config.json");
  const model = await findModel("models", undefined, () => {});
  const service = createService({
    calibration: readCalibration(model.path),
    store: openStore(folder),
    embedder: await startEmbedder(model, { template: VIEW_TEMPLATE }),
    config: () => config,
    folder,
    onError: console.error,
  });
  await service.load();
  return { service, principal: localPrincipal(config.ceiling) };
}
