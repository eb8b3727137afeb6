//! Which capture a fake `claude` plays.

use std::sync::Arc;

use captures::{catalog::Catalog, provider::Provider};

use super::{
    Claude,
    profile::{builtin, newest},
    script::{Script, reduce},
};
use crate::understudy::Launch;

/// Environment variable that names the scene.
pub const SCENE: &str = "REHEARSAL_SCENE";
/// Environment variable that names the version; the newest one that has the scene otherwise.
pub const VERSION: &str = "REHEARSAL_VERSION";

/// The process that a launch asks for: its scene and version stand in the environment.
///
/// # Errors
///
/// A scene or a version that no capture has, in words that say which there are.
pub fn from_launch(launch: &Launch) -> Result<Claude, String> {
    named(launch, launch.env.get(SCENE).map(String::as_str), launch.env.get(VERSION).map(String::as_str))
}

/// A process of this version that plays this scene's script; without a scene, one whose replies repeat the prompt.
///
/// It answers as fast as it is asked: the start-up of the real CLI is left out.
///
/// # Errors
///
/// A scene or a version that no capture has.
pub fn named(launch: &Launch, scene: Option<&str>, version: Option<&str>) -> Result<Claude, String> {
    let (version, script) = match scene {
        None => (version.unwrap_or(newest()).to_owned(), Script::default()),
        Some(scene) => {
            let catalog = Catalog::embedded_scene(Provider::Claude, scene);
            let version = match version {
                Some(version) => version,
                None => catalog
                    .newest_with(Provider::Claude, &[scene])
                    .ok_or_else(|| format!("failed to find scene `{scene}` of claude: see `rehearsal captures list claude`"))?,
            };
            // The whole catalog knows what there is instead of what there is not.
            let capture = catalog
                .get(Provider::Claude, version, scene)
                .or_else(|_| Catalog::embedded().get(Provider::Claude, version, scene))
                .map_err(|error| error.to_string())?;
            (version.to_owned(), Script { boot_ms: 0, ..reduce(&capture) })
        }
    };
    let profile = builtin(&version)
        .ok_or_else(|| format!("failed to find version `{version}` of claude: expected one that was recorded, {}", newest()))?;
    Ok(Claude::new(launch.clone(), Arc::new(profile), script))
}
