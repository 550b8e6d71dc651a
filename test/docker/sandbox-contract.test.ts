import { cannotUseDocker, dockerUnderTest } from "../contracts/sandbox-on-docker.ts";
import { providerContract } from "../contracts/sandbox-provider.ts";

providerContract("docker", async () => dockerUnderTest(), { skip: cannotUseDocker });
