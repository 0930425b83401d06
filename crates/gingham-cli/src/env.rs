//! The environment: read here and nowhere else.
//!
//! | variable | what |
//! |---|---|
//! | `AWS_*`, `GOOGLE_*`, `AZURE_*` | settings of object stores, see [`SETTINGS`]; others of these names are not ours |
//! | `GINGHAM_JOBS` | `--jobs` |
//! | `GINGHAM_PROGRESS` | `--progress` |
//! | `HTTPS_PROXY`, `ALL_PROXY`, `NO_PROXY` (also in lower case) | `--proxy`, and the hosts that it is not for |
//!
//! `NO_COLOR`, `CLICOLOR_FORCE` and `TERM` are honoured by the streams that colours are written to.

use clap::ValueEnum;

use crate::args::ProgressMode;
use crate::error::{Failure, Result};

/// Variables that are settings of object stores, in lower case as the stores name them.
const SETTINGS: [&str; 56] = [
    "aws_access_key_id",
    "aws_allow_http",
    "aws_checksum_algorithm",
    "aws_container_authorization_token_file",
    "aws_container_credentials_full_uri",
    "aws_container_credentials_relative_uri",
    "aws_default_region",
    "aws_endpoint",
    "aws_endpoint_url",
    "aws_endpoint_url_s3",
    "aws_endpoint_url_sts",
    "aws_imdsv1_fallback",
    "aws_metadata_endpoint",
    "aws_region",
    "aws_request_payer",
    "aws_role_arn",
    "aws_role_session_name",
    "aws_s3_express",
    "aws_secret_access_key",
    "aws_server_side_encryption",
    "aws_session_token",
    "aws_skip_signature",
    "aws_sse_bucket_key_enabled",
    "aws_sse_customer_key_base64",
    "aws_sse_kms_key_id",
    "aws_unsigned_payload",
    "aws_virtual_hosted_style_request",
    "aws_web_identity_token_file",
    "azure_allow_http",
    "azure_authority_host",
    "azure_client_id",
    "azure_client_secret",
    "azure_endpoint",
    "azure_federated_token_file",
    "azure_identity_endpoint",
    "azure_msi_endpoint",
    "azure_msi_resource_id",
    "azure_object_id",
    "azure_skip_signature",
    "azure_storage_access_key",
    "azure_storage_account_key",
    "azure_storage_account_name",
    "azure_storage_endpoint",
    "azure_storage_sas_key",
    "azure_storage_sas_token",
    "azure_storage_token",
    "azure_storage_use_emulator",
    "azure_tenant_id",
    "azure_use_azure_cli",
    "google_application_credentials",
    "google_base_url",
    "google_bearer_token",
    "google_service_account",
    "google_service_account_key",
    "google_service_account_path",
    "google_skip_signature",
];

/// What the environment says.
#[derive(Debug, Default, PartialEq)]
pub struct Environment {
    /// Settings of object stores.
    pub settings: Vec<(String, String)>,
    /// Worker threads.
    pub jobs: Option<u16>,
    /// How progress is shown.
    pub progress: Option<ProgressMode>,
    /// URL of a proxy.
    pub proxy: Option<String>,
    /// Hosts that are reached without it.
    pub no_proxy: Vec<String>,
}

impl Environment {
    /// The proxy for a host, if it is to be reached through one.
    pub fn proxy_for(&self, host: &str) -> Option<&str> {
        let excepted = |entry: &String| {
            let entry = entry.trim_start_matches("*.").trim_start_matches('.');
            entry == "*" || host == entry || host.strip_suffix(entry).is_some_and(|rest| rest.ends_with('.'))
        };
        self.proxy.as_deref().filter(|_| !self.no_proxy.iter().any(excepted))
    }
}

/// Reads the process' environment. Variables that are not UTF-8 are left out.
pub fn read() -> Result<Environment> {
    parse(std::env::vars_os().filter_map(|(k, v)| Some((k.into_string().ok()?, v.into_string().ok()?))))
}

fn parse(variables: impl Iterator<Item = (String, String)>) -> Result<Environment> {
    let mut found = Environment::default();
    for (name, value) in variables.filter(|(_, v)| !v.is_empty()) {
        match name.as_str() {
            "GINGHAM_JOBS" => {
                let jobs = value.parse().ok().filter(|n| (1..=4096).contains(n));
                found.jobs =
                    Some(jobs.ok_or_else(|| Failure::usage(format!("GINGHAM_JOBS is \"{value}\"; it takes a number from 1 to 4096")))?);
            }
            "GINGHAM_PROGRESS" => {
                let mode = ProgressMode::from_str(&value, true)
                    .map_err(|_| Failure::usage(format!("GINGHAM_PROGRESS is \"{value}\"; it takes auto, bar, json or none")))?;
                found.progress = Some(mode);
            }
            "HTTPS_PROXY" | "https_proxy" => found.proxy = Some(value),
            "ALL_PROXY" | "all_proxy" => {
                found.proxy.get_or_insert(value);
            }
            "NO_PROXY" | "no_proxy" => found.no_proxy = value.split(',').map(|h| h.trim().to_string()).filter(|h| !h.is_empty()).collect(),
            _ => {
                let setting = name.to_ascii_lowercase();
                // Only what is written in capitals is a variable of this kind.
                if name == setting.to_ascii_uppercase() && SETTINGS.binary_search(&setting.as_str()).is_ok() {
                    found.settings.push((setting, value));
                }
            }
        }
    }
    found.settings.sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn of(pairs: &[(&str, &str)]) -> Result<Environment> {
        parse(pairs.iter().map(|(k, v)| (k.to_string(), v.to_string())))
    }

    #[test]
    fn settings_of_object_stores_are_passed_on_in_lower_case() {
        let variables =
            [("AWS_REGION", "eu-west-1"), ("PATH", "/bin"), ("AWS_ACCESS_KEY_ID", "k"), ("AWS_PROFILE", "x"), ("AWS_CA_BUNDLE", "y")];
        let env = of(&variables).unwrap();
        assert_eq!(env.settings, [("aws_access_key_id".into(), "k".into()), ("aws_region".into(), "eu-west-1".into())]);
    }

    #[test]
    fn every_setting_is_one_that_the_stores_know() {
        assert!(SETTINGS.is_sorted());
        for name in SETTINGS {
            let options = gingham::store::Options { settings: vec![(name.into(), "x".into())], ..Default::default() };
            if let Err(error) = gingham::store::open_with("s3://bucket/x.zarr", &options) {
                assert!(!error.to_string().contains("is not a setting"), "{error}");
            }
        }
    }

    #[test]
    fn a_proxy_is_not_for_the_hosts_that_are_excepted() {
        let env = of(&[("ALL_PROXY", "http://p:1"), ("no_proxy", "localhost, .example.org,10.0.0.1")]).unwrap();
        assert_eq!(env.proxy_for("data.org"), Some("http://p:1"));
        assert_eq!(env.proxy_for("notexample.org"), Some("http://p:1"));
        for host in ["localhost", "example.org", "a.example.org", "10.0.0.1"] {
            assert_eq!(env.proxy_for(host), None, "{host}");
        }
        assert_eq!(of(&[("HTTPS_PROXY", "x"), ("NO_PROXY", "*")]).unwrap().proxy_for("y"), None);
    }

    #[test]
    fn own_variables_are_checked() {
        assert_eq!(of(&[("GINGHAM_JOBS", "3")]).unwrap().jobs, Some(3));
        assert_eq!(of(&[("GINGHAM_PROGRESS", "json")]).unwrap().progress, Some(ProgressMode::Json));
        assert!(of(&[("GINGHAM_JOBS", "many")]).unwrap_err().what().contains("GINGHAM_JOBS"));
        assert!(of(&[("GINGHAM_JOBS", "0")]).is_err());
        assert!(of(&[("GINGHAM_PROGRESS", "loud")]).is_err());
    }
}
